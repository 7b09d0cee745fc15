#!/bin/sh
# Asks the meters of Brackwater seven questions; each line is one request.
#   sh examples/meters/ask.sh [URL]
set -eu
url=${1:-http://127.0.0.1:1026}
ask() {
  echo "# $1"
  path=$2
  shift 2
  curl --fail-with-body --silent --show-error --get "$url/tsm/v1/repositories/brackwater/$path" "$@"
}

ask 'A short day: 92 quarter hours are 23 hours; two o clock is missing.' timeseries/Crane/data \
  --data-urlencode 'from=2026-03-29' --data-urlencode 'to=2026-03-30' --data-urlencode 'interval=Hour' \
  --data-urlencode 'form=csv'

ask 'A long day: the doubled hour is told apart by its offset.' timeseries/Crane/data \
  --data-urlencode 'from=2026-10-25T00:00:00Z' --data-urlencode 'to=2026-10-25T02:00:00Z' --data-urlencode 'form=csv'

ask 'By the day, in megawatt hours.' timeseries/Crane/data \
  --data-urlencode 'from=2026-10-25' --data-urlencode 'to=2026-10-26' --data-urlencode 'interval=Day' \
  --data-urlencode 'unit=MWh'

ask 'The gas day from six to six, which the data fills only in part.' timeseries/Crane/data \
  --data-urlencode 'from=2026-10-24T06:00:00+02:00' --data-urlencode 'to=2026-10-26T06:00:00+01:00' \
  --data-urlencode 'interval=Day' --data-urlencode 'dayStart=06:00' --data-urlencode 'form=csv'

ask 'Power as energy: the town hall in kilowatt hours.' 'timeseries/Town%20hall/data' \
  --data-urlencode 'from=2026-03-29' --data-urlencode 'to=2026-03-30' --data-urlencode 'interval=Day' \
  --data-urlencode 'unit=kWh' --data-urlencode 'form=compact'

ask 'All meters of a district added up by the server.' timeseriescollections/data/sum \
  --data-urlencode 'attribute=District|Harbour' --data-urlencode 'from=2026-03-29' --data-urlencode 'to=2026-03-30' \
  --data-urlencode 'interval=Hour' --data-urlencode 'intervalMultiplier=6' --data-urlencode 'form=csv'

ask 'The same by a formula, computed when it is read.' timeseries/Harbour/data \
  --data-urlencode 'from=2026-03-29' --data-urlencode 'to=2026-03-30' \
  --data-urlencode 'interval=Hour' --data-urlencode 'intervalMultiplier=6' --data-urlencode 'form=csv'
