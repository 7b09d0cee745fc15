#!/bin/sh
# Asks the city of Brackwater five questions; each line is one request.
#   sh examples/city/ask.sh [URL]
set -eu
url=${1:-http://127.0.0.1:1026}
ask() {
  echo "# $1"
  shift
  curl --fail-with-body --silent --show-error --get "$url/ngsi-ld/v1/entities" "$@"
}

ask 'By value: parking areas that are open and have more than 20 free spaces, best first.' \
  --data-urlencode 'type=ParkingArea' --data-urlencode 'q=open==true;freeSpaces>20' \
  --data-urlencode 'pick=id,name,freeSpaces' --data-urlencode 'format=simplified' --data-urlencode 'orderBy=freeSpaces;desc'

ask 'By relationship, over several types: everything in the harbour that measures or shines.' \
  --data-urlencode 'type=Sensor,StreetLight' --data-urlencode 'q=inDistrict==urn:ngsi-ld:District:harbour' \
  --data-urlencode 'pick=id,type' --data-urlencode 'format=simplified'

ask 'By place: stations within 2 km of the town hall, warmer than 12 degrees at either height.' \
  --data-urlencode 'type=AirQualityStation' --data-urlencode 'q=temperature>12' \
  --data-urlencode 'georel=near;maxDistance==2000' --data-urlencode 'geometry=Point' \
  --data-urlencode 'coordinates=[8.14,53.53]' --data-urlencode 'pick=id,temperature' --data-urlencode 'format=concise'

ask 'By scope, in German: the districts and what they are called.' \
  --data-urlencode 'type=District' --data-urlencode 'scopeQ=/brackwater/+' \
  --data-urlencode 'lang=de' --data-urlencode 'pick=id,name,inhabitants' --data-urlencode 'format=simplified'

ask 'With neighbours: dusty stations, and the buildings they are mounted on, in one answer.' \
  --data-urlencode 'type=AirQualityStation' --data-urlencode 'q=pm10>=40' \
  --data-urlencode 'join=inline' --data-urlencode 'joinLevel=1' \
  --data-urlencode 'pick=id,pm10,mountedOn{name,floors}' --data-urlencode 'format=simplified'
