import { Field, FieldResolver, ID, Int, ObjectType, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, batchedOrNull } from '../../../kernel/database/batched.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { argsType } from '../../../kernel/graphql/inputs.js';
import { hiddenField, objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { nested, query } from '../../../kernel/graphql/operations.js';
import { searchConnectionOf } from '../../../kernel/graphql/page.js';
import type { SearchConnectionOf } from '../../../kernel/paging.js';
import {
  type AuthorityRow,
  AuthorityType,
  type CertificateRow,
  CertificateType,
  readableAuthorities,
  readableCertificates,
} from '../../certificates/public.js';
import type { ProjectRelations } from '../../projects/public.js';
import { AlertType } from '../alerts/public.js';
import { ListMatches, MatchPage, PreviewAlert } from './alert-delivery.rules.js';
import type { MatchService } from './match.service.js';

/** A certificate that an alert applies to, as the API shows it. */
const MatchType = objectType(
  'CertificateAlertMatch',
  'A certificate that an alert applies to: one of the inventory, or that of a certificate authority.',
  {
    isAuthority: hiddenField<boolean>(),
    id: hiddenField<string>(),
    commonName: [String, 'Common name (CN) of the subject. Empty if it has none.'],
    sans: [[String], 'Subject alternative names. Names after the first 100 may be left out.'],
    profileName: [orNull(String), 'Slug of the profile that issued the certificate. Null if issued without one.'],
    serialNumber: [String, 'Serial number, in upper-case hexadecimal, for example `4A7F09C2D1E85B36`.'],
    isCa: [Boolean, 'Whether it is the certificate of a certificate authority.'],
    notBefore: [DateTime, 'Start of the validity period.'],
    notAfter: [DateTime, 'End of the validity period.'],
  },
);
type MatchType = InstanceType<typeof MatchType>;

@ObjectType('CertificateAlertMatchConnection', {
  description: 'Certificates that an alert applies to, soonest expiration first.',
  simpleResolvers: true,
})
class MatchConnection extends searchConnectionOf(MatchType, 'CertificateAlertMatch', 'expiration, soonest first') {
  @Field(() => Int, {
    nullable: true,
    description:
      'Total number of certificates, on all pages. Null if counting would scan more than 10,000. Computed only on request.',
  })
  totalCount!: () => Promise<number | null>;
}

type Shown = SearchConnectionOf<MatchType> & { totalCount: () => Promise<number | null> };

@Resolver(() => MatchType)
export class MatchResolver {
  readonly #certificates: BatchLoad<CertificateRow>;
  readonly #authorities: BatchLoad<AuthorityRow>;

  constructor(
    private readonly service: MatchService,
    relations: ProjectRelations,
  ) {
    this.#certificates = (ctx, ids) => readableCertificates(ctx, relations, ids);
    this.#authorities = (ctx, ids) => readableAuthorities(ctx, relations, ids);
  }

  @query(
    MatchConnection,
    PreviewAlert,
    'Preview of a certificate alert: the certificates that an alert with these filters would apply to now. Only those that you can read.',
  )
  previewCertificateAlert(ctx: Context, args: object): Promise<Shown> {
    return this.service.preview(ctx, args);
  }

  @query(
    MatchConnection,
    ListMatches,
    'The certificates that a certificate alert applies to now, notified or not. Only those that you can read.',
  )
  certificateAlertMatches(ctx: Context, args: object): Promise<Shown> {
    return this.service.list(ctx, args);
  }

  @FieldResolver(() => ID, { description: 'ID of the certificate or of the certificate authority.' })
  subjectId(@Root() { id }: MatchType): string {
    return id;
  }

  @nested(CertificateType, 'The certificate. Null if it belongs to a certificate authority of the project.')
  certificate({ id, isAuthority }: MatchType, ctx: Context): Promise<CertificateType | null> {
    return batchedOrNull(ctx, this.#certificates, isAuthority ? null : id);
  }

  @nested(AuthorityType, 'The certificate authority that the certificate belongs to. Null for other certificates.')
  authority({ id, isAuthority }: MatchType, ctx: Context): Promise<AuthorityType | null> {
    return batchedOrNull(ctx, this.#authorities, isAuthority ? id : null);
  }
}

const MatchPageArgs = argsType(MatchPage);

/** Certificates that alerts apply to. */
@Resolver(() => AlertType)
export class AlertMatchesResolver {
  constructor(private readonly service: MatchService) {}

  @nested(
    MatchConnection,
    'Certificates that the alert applies to now, notified or not, soonest expiration first. Only those that you can read.',
    MatchPageArgs,
  )
  certificates(alert: AlertType, ctx: Context, page: object): Promise<Shown> {
    return this.service.pageOfAlert(ctx, alert, page);
  }
}
