#!/bin/sh
# Defines units and series and writes two days of quarter hours around the changes of summer time.
#   sh examples/meters/load.sh [URL]
set -eu
url=${1:-http://127.0.0.1:1026}
repository="$url/tsm/v1/repositories/brackwater"
send() {
  curl --fail-with-body --silent --show-error --request "$1" "$repository/$2" \
    --header 'Content-Type: application/json' --data-binary "$3" --output /dev/null --write-out "$2: HTTP %{http_code}\n"
}

# Energy adds up, power is averaged; an hour of a kilowatt is a kilowatt hour.
send PUT units/kWh '{"Aggregation":"SUM"}'
send PUT units/MWh '{"BaseUnit":"kWh","Factor":1000,"Aggregation":"SUM"}'
send PUT units/kW '{"IntegralUnit":"kWh","Aggregation":"AVG"}'
send PUT attributetypes/District '{"Type":"Category","Values":["Harbour","Old Town"]}'

quarter='"Type":"Begin","Interval":{"Value":"Minute","Multiplier":15},"TimeZone":"Europe/Berlin"'
send POST timeseriescollections/definition "{\"TimeSeries\":[
  {\"Name\":\"Crane\",\"Unit\":\"kWh\",$quarter,\"Attributes\":[{\"Name\":\"District\",\"Value\":\"Harbour\"}]},
  {\"Name\":\"Cold store\",\"Unit\":\"kWh\",$quarter,\"Attributes\":[{\"Name\":\"District\",\"Value\":\"Harbour\"}]},
  {\"Name\":\"Town hall\",\"Unit\":\"kW\",$quarter,\"Attributes\":[{\"Name\":\"District\",\"Value\":\"Old Town\"}]},
  {\"Name\":\"Harbour\",\"Unit\":\"kWh\",$quarter,\"Formula\":\"[Crane] + [Cold store]\"}]}"

# So many quarter hours from an offset on, as a list.
values() {
  seq 0 $(($1 - 1)) | LC_ALL=C awk -v base="$2" '{ printf("%s%.3f", (NR > 1 ? "," : ""), base + ($1 % 4) * 0.125) }'
}

# On 29 March the day in Berlin has 23 hours, on 25 October it has 25.
spring='"Start":"2026-03-29T00:00:00+01:00"'
autumn='"Start":"2026-10-25T00:00:00+02:00"'
for day in "$spring:92" "$autumn:100"; do
  start=${day%:*} count=${day##*:}
  send PUT timeseriescollections/data "{\"TimeSeries\":[
    {\"Name\":\"Crane\",$start,\"Values\":[$(values "$count" 2)]},
    {\"Name\":\"Cold store\",$start,\"Values\":[$(values "$count" 10)]},
    {\"Name\":\"Town hall\",$start,\"Values\":[$(values "$count" 40)]}]}"
done

# A meter was read by hand: one value replaces the estimate of its quarter of an hour.
send PATCH 'timeseries/Crane/data' '{"Data":[{"From":"2026-10-25T02:00:00+01:00","Value":7.5,"Flag":"ManuallyReplaced"}]}'
