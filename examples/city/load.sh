#!/bin/sh
# Loads the city of Brackwater (fifty entities of six types) in one request.
#   sh examples/city/load.sh [URL]
set -eu
url=${1:-http://127.0.0.1:1026}
curl --fail-with-body --silent --show-error --request POST "$url/ngsi-ld/v1/entityOperations/upsert" \
  --header 'Content-Type: application/json' --data-binary "@$(dirname "$0")/city.json" --output /dev/null \
  --write-out 'loaded: HTTP %{http_code}\n'
