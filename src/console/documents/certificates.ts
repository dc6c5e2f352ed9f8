import { graphql } from './graphql.ts';

export const Authorities = graphql(`
  query Authorities($projectId: ID!, $after: String) {
    certificateAuthorities(projectId: $projectId, first: 1000, after: $after) {
      nodes { id name kind status notAfter parentId revokedAt } pageInfo { hasNextPage endCursor }
    }
  }
`);

/** Certificates, the one that ends first first. */
export const Certificates = graphql(`
  query Certificates(
    $projectId: ID!, $authorityId: ID, $status: CertificateStatus, $search: String
    $expiresAfter: DateTime, $expiresBefore: DateTime, $after: String
  ) {
    certificates(
      projectId: $projectId, authorityId: $authorityId, status: $status, search: $search
      expiresAfter: $expiresAfter, expiresBefore: $expiresBefore, first: 1000, after: $after
    ) {
      nodes { id commonName sans notBefore notAfter status source serialNumber renewedBy { id } }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

/** A certificate and its renewals. */
export const Certificate = graphql(`
  query Certificate($id: ID!) {
    certificate(id: $id) {
      id commonName sans notBefore notAfter createdAt status source serialNumber keyAlgorithm fingerprintSha256 isCa
      hasPrivateKey renewBeforeDays revokedAt revocationReason profileSlug
      authority { id name } profile { id slug renewBeforeDays } metadata { key value }
      details { subject issuer keyUsages extendedKeyUsages } renewalFailure { code failedAt nextTryAt }
      renewedFrom { id commonName notAfter } currentCertificate { id }
      renewals { id serialNumber notBefore notAfter status }
    }
  }
`);

/** Requests for a certificate and its renewal, and whether they worked. */
export const Renewals = graphql(`
  query Renewals($projectId: ID!, $id: ID!) {
    certificateRequests(projectId: $projectId, certificateId: $id, first: 50) {
      nodes { id kind state createdAt endedAt isAutomatic errorCode faults { path message } issuedCertificateId }
    }
  }
`);

/** What each alert has done or will do about a certificate. */
export const Decisions = graphql(`
  query Decisions($id: ID!) {
    alertDecisions(certificateId: $id, first: 100) {
      nodes {
        outcome dueAt
        alert { id name eventType alertBefore }
        messages { id state recipient channelType endedAt createdAt errorCode }
      }
    }
  }
`);

export const Alerts = graphql(`
  query Alerts($projectId: ID!, $after: String) {
    certificateAlerts(projectId: $projectId, first: 200, after: $after) {
      nodes {
        id name eventType alertBefore isEnabled
        channels { __typename id channelType isEnabled }
        lastMessage { id createdAt state }
        undelivered { count errorCode }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

/** Whether the caller may renew a certificate. */
export const MayRenew = graphql(`
  query MayRenew($projectId: ID!, $commonName: String!) {
    can(checks: [
      { projectId: $projectId, subject: CERTIFICATES, action: CREATE, fields: { commonName: $commonName } }
      { projectId: $projectId, subject: CERTIFICATE_PROFILES, action: ISSUE_CERT }
    ]) { allowed }
  }
`);
