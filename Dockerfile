# ktx mcp start in a container. The image has one program and no shell. The program
# does not run as root, and writes only the state of the project.
#
#   docker build -t ktx .
#   mkdir -p shop/.ktx
#   docker run --read-only --cap-drop ALL --security-opt no-new-privileges \
#     -v ./shop:/project:ro -v ktx-shop:/project/.ktx \
#     -e KTX_MCP_TOKEN -e WAREHOUSE_URL -p 127.0.0.1:7878:7878 ktx
#
# To run another command, append it: docker run … ktx sql check …

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=""
# Without cgo the program is static, as in a release, and the image needs no C library.
RUN CGO_ENABLED=0 go build -trimpath \
      -ldflags "-s -w -X github.com/ktxhq/ktx/cmd/ktx/internal/cli.version=$VERSION" \
      -o /out/usr/local/bin/ktx ./cmd/ktx \
 && install -D -m 0644 /etc/ssl/certs/ca-certificates.crt /out/etc/ssl/certs/ca-certificates.crt \
 && install -d -o 65532 -g 65532 /out/project /out/project/.ktx

FROM scratch
COPY --from=build /out /
USER 65532:65532
WORKDIR /project
VOLUME /project/.ktx
EXPOSE 7878
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 CMD ["/usr/local/bin/ktx", "mcp", "status"]
ENTRYPOINT ["/usr/local/bin/ktx"]
# ktx binds an address that is not loopback only with a token. Without
# KTX_MCP_TOKEN or server.tokens it does not start.
CMD ["mcp", "start", "--foreground", "--host", "0.0.0.0"]
