import { ID } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { RequestKind, RequestState } from './request.entity.js';
import { requestKind, requestState } from './request.rules.js';

const RequestKindEnum = enumType<RequestKind>(
  'CertificateRequestKind',
  'Kinds of certificate requests.',
  {
    issuance: 'Issuance of a new certificate.',
    renewal: 'Renewal of a certificate.',
  },
  requestKind,
);

const RequestStateEnum = enumType<RequestState>(
  'CertificateRequestState',
  'States of a certificate request.',
  {
    pending: 'The service will renew the certificate.',
    issued: 'The certificate was issued.',
    failed: 'No certificate was issued: see `errorCode` and `faults`.',
  },
  requestState,
);

const RequestFaultType = objectType('CertificateRequestFault', 'An error of a certificate request.', {
  path: [String, 'Path in the request, for example `sans[0].value`.'],
  message: [String, 'Error message.'],
});

/** A request as the API shows it. */
export const RequestType = objectType(
  'CertificateRequest',
  'A request for a certificate and its result. Stored for 90 days.',
  {
    projectId: [ID, 'ID of the project.'],
    kind: [RequestKindEnum, 'Kind of the request.'],
    state: [RequestStateEnum, 'State of the request.'],
    isAutomatic: [Boolean, 'Whether it is an automatic request of the service.'],
    actorKind: [String, 'Kind of the requester: `user`, `identity` or `system`, for example `identity`.'],
    actorId: [ID, 'ID of the user or identity that made the request.'],
    profileSlug: [orNull(String), 'Slug of the profile. Null if there is none.'],
    commonName: [String, 'Common name (CN) of the subject. Empty if it has none.'],
    certificateId: [orNull(ID), 'ID of the certificate to renew. Null for a new certificate.'],
    issuedCertificateId: [orNull(ID), 'ID of the issued certificate. Null if there is none.'],
    errorCode: [
      orNull(String),
      'Error code if the request failed. `RENEWAL_NOT_LONGER`: the authority expires no later than the certificate. Null if it did not fail.',
    ],
    faults: [[RequestFaultType], 'Validation errors, if they are why the request failed.'],
    createdAt: [DateTime, 'When the request was created.'],
    endedAt: [orNull(DateTime), 'When the request was fulfilled or failed. Null while it is pending.'],
  },
  { implements: Node },
);
export type RequestType = InstanceType<typeof RequestType>;

export const RequestConnection = connectionOf(RequestType, 'CertificateRequest', 'creation time, newest first');
