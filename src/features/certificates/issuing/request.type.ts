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
  description: 'What is asked for.',
  valuesConfig: {
    ISSUANCE: { description: 'A new certificate.' },
    RENEWAL: { description: 'A renewal of a certificate.' },
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
  description: 'What became of a request for a certificate.',
  valuesConfig: {
    PENDING: { description: 'The service is about to renew the certificate.' },
    ISSUED: { description: 'The certificate was issued.' },
    FAILED: { description: 'It was not issued: `errorCode` and `faults` say why.' },
  },
});
enumOfRule(requestState, RequestStateEnum);

@ObjectType('CertificateRequestFault', { description: 'What was wrong with a request.', simpleResolvers: true })
class RequestFaultType {
  @Field(() => String, { description: 'Where in the request.' })
  path!: string;

  @Field(() => String, { description: 'What has to be otherwise.' })
  message!: string;
}

/** What the API shows of a request. */
@ObjectType('CertificateRequest', {
  implements: Node,
  description: 'A request for a certificate, and what became of it. It is kept for 90 days.',
  simpleResolvers: true,
})
export class RequestType extends Node {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => RequestKindEnum, { description: 'What is asked for.' })
  kind!: RequestKind;

  @Field(() => RequestStateEnum, { description: 'What became of it.' })
  state!: RequestState;

  @Field(() => Boolean, { description: 'Whether the service itself asked.' })
  isAutomatic!: boolean;

  @Field(() => String, { description: 'Who asked: `user`, `identity` or `system`.' })
  actorKind!: string;

  @Field(() => ID, { description: 'The user or identity that asked.' })
  actorId!: string;

  @Field(() => String, { nullable: true, description: 'Slug of the profile; null for none.' })
  profileSlug!: string | null;

  @Field(() => String, { description: 'Common name of the subject; empty for none.' })
  commonName!: string;

  @Field(() => ID, { nullable: true, description: 'The certificate that is to be renewed; null for a new one.' })
  certificateId!: string | null;

  @Field(() => ID, { nullable: true, description: 'The certificate that was issued; null for none.' })
  issuedCertificateId!: string | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Why it failed: the code of an error, or `RENEWAL_NOT_LONGER` where the authority ends no later than the certificate. Null if it did not.',
  })
  errorCode!: string | null;

  @Field(() => [RequestFaultType], { description: 'What was wrong with it, where that is why it failed.' })
  faults!: readonly RequestFaultType[];

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it was fulfilled or failed; null while it is pending.' })
  endedAt!: Date | null;
}

export const RequestConnection = connectionOf(RequestType, 'CertificateRequest', 'when they were made, newest first');
