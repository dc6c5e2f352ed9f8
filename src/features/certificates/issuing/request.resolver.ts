import { ID, Resolver } from 'type-graphql';
import { authorize, can } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, batchedOrNull, withoutNulls } from '../../../kernel/database/batched.js';
import { ActorKindEnum } from '../../../kernel/graphql/actor-kind.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { Node, type NodeKind, nodeKind } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { nested, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { type ProjectRelations, REACH_OF_MEMBER } from '../../projects/public.js';
import type { CertificateRow } from '../certificates/certificate.queries.js';
import { readableCertificates } from '../certificates/certificate.service.js';
import { CertificateType } from '../certificates/certificate.type.js';
import { ListRequests, OneRequest, requestKind, requestState } from './issue.rules.js';
import type { RequestKind, RequestState } from './request.entity.js';
import { findRequests, type RequestRow } from './request.queries.js';
import { auditOfRead, type RequestService } from './request.service.js';

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
    actorKind: [ActorKindEnum, 'Kind of the requester.'],
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

const RequestConnection = connectionOf(RequestType, 'CertificateRequest', 'creation time, newest first');

@Resolver(() => RequestType)
export class RequestResolver {
  constructor(private readonly service: RequestService) {}

  @query(RequestConnection, ListRequests, 'Certificate requests of a project, newest first.')
  certificateRequests(ctx: Context, args: object): Promise<CountedConnectionOf<RequestType>> {
    return this.service.list(ctx, args);
  }

  @query(RequestType, OneRequest, 'A certificate request, by ID.')
  certificateRequest(ctx: Context, args: object): Promise<RequestType> {
    return this.service.get(ctx, args);
  }
}

/** Certificates of requests. */
@Resolver(() => RequestType)
export class RequestCertificatesResolver {
  readonly #certificates: BatchLoad<CertificateRow>;

  constructor(relations: ProjectRelations) {
    this.#certificates = (ctx, ids) => readableCertificates(ctx, relations, ids);
  }

  @nested(CertificateType, 'The certificate to renew. Null for a new certificate.')
  certificate({ certificateId }: RequestType, ctx: Context): Promise<CertificateType | null> {
    return batchedOrNull(ctx, this.#certificates, certificateId);
  }

  @nested(CertificateType, 'The issued certificate. Null if there is none, or if it was deleted.')
  issuedCertificate({ issuedCertificateId }: RequestType, ctx: Context): Promise<CertificateType | null> {
    return batchedOrNull(ctx, this.#certificates, issuedCertificateId);
  }
}

/** Requests as nodes. Whether the caller can read one depends on its common name. */
export const requestNode = (relations: ProjectRelations): NodeKind =>
  nodeKind<RequestRow>({
    type: 'CertificateRequest',
    table: 'certificate_request',
    reach: REACH_OF_MEMBER,
    load: async (ctx, ids) => {
      const found = await relations.readable(ctx, await findRequests(ctx, { ids }), (row, access) => {
        authorize(access, 'certificates:read');
        return can(access.ability, 'certificates:read', { commonName: row.commonName }) ? row : null;
      });
      return withoutNulls(found);
    },
    record: auditOfRead,
  });
