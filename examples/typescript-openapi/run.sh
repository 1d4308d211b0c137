#!/bin/sh
# Makes types of the documents that the service gives, compiles the program and runs it.
set -eu
cd "$(dirname "$0")/../.."
out=build/examples/typescript-openapi
bin=examples/typescript-openapi/node_modules/.bin
"$bin/openapi-typescript" "${CUPO_PUBLIC:-http://127.0.0.1:8080/api/external/v1}/openapi.json" -o "$out/access.d.ts" > /dev/null
"$bin/openapi-typescript" "${CUPO_INTERNAL:-http://127.0.0.1:9090}/openapi.json" -o "$out/clinic.d.ts" > /dev/null
cp examples/typescript-openapi/book.ts "$out/book.ts"
node_modules/.bin/tsc --project examples/typescript-openapi/tsconfig.json
node "$out/compiled/book.js"
