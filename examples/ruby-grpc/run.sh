#!/bin/sh
# Makes stubs of the protos and runs the program.
set -eu
cd "$(dirname "$0")/../.."
out=build/examples/ruby-grpc
node scripts/export-protos.mjs "$out/protos" > /dev/null
mkdir -p "$out/gen"
(cd "$out/protos/protos" && find . -name '*.proto' | cut -c3-) | xargs protoc -I "$out/protos/protos" \
  --ruby_out="$out/gen" --grpc_out="$out/gen" --plugin=protoc-gen-grpc="$(command -v grpc_ruby_plugin)" 2> /dev/null
ruby -I "$out/gen" examples/ruby-grpc/book.rb
