import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumOfRule } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { RequestKind, RequestState } from './request.entity.js';
import { requestKind, requestState } from './request.rules.js';

const RequestKindEnum = {
  ISSUANCE: 'issuance',
  RENEWAL: 'renewal',
} as const satisfies Record<string, RequestKind>;
registerEnumType(RequestKindEnum, {
  name: 'CertificateRequestKind',
  description: 'Kinds of certificate requests.',
  valuesConfig: {
    ISSUANCE: { description: 'Issuance of a new certificate.' },
    RENEWAL: { description: 'Renewal of a certificate.' },
  },
});
enumOfRule(requestKind, RequestKindEnum);

const RequestStateEnum = {
  PENDING: 'pending',
  ISSUED: 'issued',
  FAILED: 'failed',
} as const satisfies Record<string, RequestState>;
registerEnumType(RequestStateEnum, {
  name: 'CertificateRequestState',
  description: 'States of a certificate request.',
  valuesConfig: {
    PENDING: { description: 'The service will renew the certificate.' },
    ISSUED: { description: 'The certificate was issued.' },
    FAILED: { description: 'No certificate was issued: see `errorCode` and `faults`.' },
  },
});
enumOfRule(requestState, RequestStateEnum);

@ObjectType('CertificateRequestFault', { description: 'An error of a certificate request.', simpleResolvers: true })
class RequestFaultType {
  @Field(() => String, { description: 'Path in the request, for example `sans[0].value`.' })
  path!: string;

  @Field(() => String, { description: 'Error message.' })
  message!: string;
}

/** A request as the API shows it. */
@ObjectType('CertificateRequest', {
  implements: Node,
  description: 'A request for a certificate and its result. Stored for 90 days.',
  simpleResolvers: true,
})
export class RequestType extends Node {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => RequestKindEnum, { description: 'Kind of the request.' })
  kind!: RequestKind;

  @Field(() => RequestStateEnum, { description: 'State of the request.' })
  state!: RequestState;

  @Field(() => Boolean, { description: 'Whether it is an automatic request of the service.' })
  isAutomatic!: boolean;

  @Field(() => String, {
    description: 'Kind of the requester: `user`, `identity` or `system`, for example `identity`.',
  })
  actorKind!: string;

  @Field(() => ID, { description: 'ID of the user or identity that made the request.' })
  actorId!: string;

  @Field(() => String, { nullable: true, description: 'Slug of the profile. Null if there is none.' })
  profileSlug!: string | null;

  @Field(() => String, { description: 'Common name (CN) of the subject. Empty if it has none.' })
  commonName!: string;

  @Field(() => ID, { nullable: true, description: 'ID of the certificate to renew. Null for a new certificate.' })
  certificateId!: string | null;

  @Field(() => ID, { nullable: true, description: 'ID of the issued certificate. Null if there is none.' })
  issuedCertificateId!: string | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Error code if the request failed. `RENEWAL_NOT_LONGER`: the authority expires no later than the certificate. Null if it did not fail.',
  })
  errorCode!: string | null;

  @Field(() => [RequestFaultType], { description: 'Validation errors, if they are why the request failed.' })
  faults!: readonly RequestFaultType[];

  @Field(() => DateTime, { description: 'When the request was created.' })
  createdAt!: Date;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the request was fulfilled or failed. Null while it is pending.',
  })
  endedAt!: Date | null;
}

export const RequestConnection = connectionOf(RequestType, 'CertificateRequest', 'creation time, newest first');
