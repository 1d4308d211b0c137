#!/bin/sh
# Makes stubs of the protos, compiles the program and runs it.
set -eu
cd "$(dirname "$0")/../.."
out=build/examples/typescript-connect
node scripts/export-protos.mjs "$out/protos" > /dev/null
node_modules/.bin/buf generate "$out/protos/protos" --template examples/typescript-connect/buf.gen.yaml --output "$out"
cp examples/typescript-connect/book.ts "$out/book.ts"
node_modules/.bin/tsc --project examples/typescript-connect/tsconfig.json
node "$out/compiled/book.js"
