#!/bin/sh
# Makes stubs of the protos, compiles the program and runs it.
set -eu
cd "$(dirname "$0")/../.."
out=$PWD/build/examples/go-grpc
node scripts/export-protos.mjs "$out" > /dev/null
buf=$PWD/node_modules/.bin/buf
(cd "$out" && "$buf" generate --template buf.gen.go.yaml)
rm -rf "$out/src" && mv "$out/generated/go" "$out/src"
GO111MODULE=off GOPATH="$out:/usr/share/gocode" go build -o "$out/book" examples/go-grpc/book.go
"$out/book"
