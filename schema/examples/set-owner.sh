#!/bin/sh
# Notes an owner in the metadata of all secrets whose key matches, in every project that the token reaches: one trip to find up to
# 500 of them, and one to change them all or none. Shows what it would change; changes it with --apply. It stops where somebody
# else changed a secret meanwhile.
#
#   STRONGROOM=https://strongroom.example.com TOKEN=... sh set-owner.sh 'SENTRY_*' platform-team [--apply]
#
# It needs curl and jq.
set -eu
keys=$1 owner=$2
dry=true
if [ "${3:-}" = --apply ]; then dry=false; fi

# Sends a document with variables, and shows its errors.
graphql() {
  jq -n --arg query "$1" --argjson variables "$2" '{ $query, $variables }' |
    curl -sS "$STRONGROOM/graphql" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' --data @- |
    jq -e 'if .errors then (.errors | map(.message) | join("\n") | halt_error) else .data end'
}

found=$(graphql '
  query ($keys: String!, $after: String) {
    searchSecrets(first: 500, after: $after, input: { key: { glob: $keys } }) {
      nodes { project { slug } secret { id version secretKey secretPath environmentSlug secretMetadata { key value isEncrypted } } }
      pageInfo { hasNextPage endCursor }
    }
  }' "$(jq -n --arg keys "$keys" --arg after "${AFTER:-}" '{ $keys, after: (if $after == "" then null else $after end) }')")

# Other metadata stays: an update replaces all of it.
changes=$(printf '%s' "$found" | jq --arg owner "$owner" '[.searchSecrets.nodes[].secret
  | if any(.secretMetadata[]; .value == null) then error("metadata of \(.secretKey) cannot be read") else . end
  | { id, expectedVersion: .version, secretMetadata: ([.secretMetadata[] | select(.key != "owner")] + [{ key: "owner", value: $owner }]) }]')
if [ "$changes" = '[]' ]; then echo 'No secret matches.'; exit 0; fi

graphql '
  mutation ($secrets: [IdentifiedSecretChangeInput!]!, $dry: Boolean!) {
    updateSecretsById(input: { secrets: $secrets, dryRun: $dry }) { isDryRun updates { versionBefore } }
  }' "$(jq -n --argjson secrets "$changes" --argjson dry "$dry" '{ $secrets, $dry }')" >/dev/null

printf '%s' "$found" | jq -r '.searchSecrets.nodes[] | "\(.project.slug)\t\(.secret.environmentSlug)\t\(.secret.secretPath)\t\(.secret.secretKey)"'
if [ "$dry" = true ]; then echo 'Nothing was changed. Run again with --apply.' >&2; fi
if [ "$(printf '%s' "$found" | jq .searchSecrets.pageInfo.hasNextPage)" = true ]; then
  echo "There are more: run again with AFTER=$(printf '%s' "$found" | jq -r .searchSecrets.pageInfo.endCursor)" >&2
fi
