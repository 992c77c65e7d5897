#!/usr/bin/env bash
# Makes certificates for trying out client certificates on this machine. Never use them elsewhere.
#
#   docker/make-dev-certificates.sh [directory]      (default: docker/certificates)
#
# tls.crt, tls.key        for nginx, for localhost
# client-ca.pem           the authority that nginx believes
# client.crt, client.key  a person, jiri@acme.example; client.p12 is the same for browsers (password: dev)
set -euo pipefail

directory=${1:-$(dirname "$0")/certificates}
days=30
umask 077
mkdir -p "$directory"
cd "$directory"

new_key() {
  openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null ||
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"
}

# authority <name> <common name>
authority() {
  new_key "$1.key"
  openssl req -x509 -new -key "$1.key" -days "$days" -subj "/O=Gatehouse development/CN=$2" \
    -addext 'basicConstraints=critical,CA:TRUE,pathlen:0' \
    -addext 'keyUsage=critical,keyCertSign,cRLSign' -out "$1.pem"
}

# issue <name> <authority> <subject> <usage> <alternative names>
issue() {
  new_key "$1.key"
  openssl req -new -key "$1.key" -subj "$3" -out "$1.csr"
  printf '%s\n' 'basicConstraints=critical,CA:FALSE' 'keyUsage=critical,digitalSignature' \
    "extendedKeyUsage=$4" "subjectAltName=$5" >"$1.ext"
  openssl x509 -req -in "$1.csr" -CA "$2.pem" -CAkey "$2.key" -CAcreateserial -days "$days" \
    -extfile "$1.ext" -out "$1.crt" 2>/dev/null
  rm "$1.csr" "$1.ext"
}

authority server-ca 'Development server CA'
authority client-ca 'Development client CA'
issue tls server-ca '/CN=localhost' serverAuth 'DNS:localhost,IP:127.0.0.1'
issue client client-ca '/O=Acme/CN=Jiri Novak' clientAuth \
  'email:jiri@acme.example,otherName:1.3.6.1.4.1.311.20.2.3;UTF8:jiri@acme.example'
openssl pkcs12 -export -inkey client.key -in client.crt -certfile client-ca.pem \
  -name 'Gatehouse development' -passout pass:dev -out client.p12

echo "Made certificates in $PWD, good for $days days."
echo "Try: curl --cacert $PWD/server-ca.pem --cert $PWD/client.crt --key $PWD/client.key -X POST https://localhost:8443/v1/auth/mtls"
