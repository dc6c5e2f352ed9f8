import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import type { ConnectionOf } from '../../../kernel/paging.js';
import { CertificateType } from '../certificates/certificate.type.js';
import {
  AlternativeName,
  IssueCertificate,
  IssuedSubject,
  OneLineage,
  type RENEWAL_KEYS,
  RenewCertificate,
  renewalKey,
} from './issue.rules.js';
import type { IssueService } from './issue.service.js';
import type { RenewalService } from './renewal.service.js';
import { ListRequests, OneRequest } from './request.rules.js';
import type { RequestService } from './request.service.js';
import { RequestConnection, RequestType } from './request.type.js';
import '../profiles/profile.type.js';

enumType<(typeof RENEWAL_KEYS)[number]>(
  'CertificateRenewalKey',
  'Keys of a renewed certificate.',
  {
    new: 'A new key, generated and stored by the service.',
    same: 'The key of the current certificate.',
  },
  renewalKey,
);

inputType('IssuedCertificateSubjectInput', IssuedSubject);
inputType('CertificateAlternativeNameInput', AlternativeName);

type Made = Promise<{ certificate: CertificateType }>;

@Resolver(() => CertificateType)
export class IssueResolver {
  constructor(
    private readonly issuing: IssueService,
    private readonly renewals: RenewalService,
  ) {}

  @query(CertificateType, OneLineage, 'The current certificate of a lineage: the most recent one that is not revoked.')
  currentCertificate(ctx: Context, args: object): Promise<CertificateType> {
    return this.renewals.current(ctx, args);
  }

  @mutation(
    IssueCertificate,
    { certificate: [CertificateType, 'The issued certificate.'] },
    'Issues a certificate within the limits of a profile. Requires `create` on `certificates` for each name, and `issue-cert` on `certificate-profiles`.',
  )
  async issueCertificate(ctx: Context, input: object): Made {
    return { certificate: await this.issuing.issue(ctx, input) };
  }

  @mutation(
    RenewCertificate,
    { certificate: [CertificateType, 'The renewed certificate.'] },
    'Renews a certificate with the same names and metadata. A certificate can be renewed once. Requires `create` on `certificates` for each name, and `issue-cert` on `certificate-profiles`.',
  )
  async renewCertificate(ctx: Context, input: object): Made {
    return { certificate: await this.renewals.renew(ctx, input) };
  }
}

@Resolver(() => RequestType)
export class RequestResolver {
  constructor(private readonly service: RequestService) {}

  @query(RequestConnection, ListRequests, 'Certificate requests of a project, newest first.')
  certificateRequests(ctx: Context, args: object): Promise<ConnectionOf<RequestType>> {
    return this.service.list(ctx, args);
  }

  @query(RequestType, OneRequest, 'A certificate request, by ID.')
  certificateRequest(ctx: Context, args: object): Promise<RequestType> {
    return this.service.get(ctx, args);
  }
}
