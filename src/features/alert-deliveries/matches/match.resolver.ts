import { FieldResolver, ID, Int, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, linked } from '../../../kernel/database/batched.js';
import { argsType } from '../../../kernel/graphql/inputs.js';
import { nested, query } from '../../../kernel/graphql/operations.js';
import type { SoughtConnectionOf } from '../../../kernel/paging.js';
import { AlertType } from '../../alerts/public.js';
import {
  type AuthorityRow,
  AuthorityType,
  type CertificateRow,
  CertificateType,
  readableAuthorities,
  readableCertificates,
} from '../../certificates/public.js';
import type { ProjectLinks } from '../../projects/public.js';
import { ListMatches, MatchPage, PreviewAlert } from './match.rules.js';
import type { MatchedPage, MatchService } from './match.service.js';
import { MatchConnection, MatchType } from './match.type.js';

type Shown = SoughtConnectionOf<MatchType> & { totalCount: () => Promise<number | null> };

@Resolver(() => MatchType)
export class MatchResolver {
  readonly #certificates: BatchLoad<CertificateRow>;
  readonly #authorities: BatchLoad<AuthorityRow>;

  constructor(
    private readonly service: MatchService,
    links: ProjectLinks,
  ) {
    this.#certificates = (ctx, ids) => readableCertificates(ctx, links, ids);
    this.#authorities = (ctx, ids) => readableAuthorities(ctx, links, ids);
  }

  @query(
    MatchConnection,
    PreviewAlert,
    'Certificates that a certificate alert would be about right now, as if it had these filters; of those, the ones that you may read.',
  )
  previewCertificateAlert(ctx: Context, args: object): Promise<Shown> {
    return this.service.preview(ctx, args);
  }

  @query(
    MatchConnection,
    ListMatches,
    'The certificates that a certificate alert is about right now, notified or not: those that you may read.',
  )
  certificateAlertMatches(ctx: Context, args: object): Promise<Shown> {
    return this.service.list(ctx, args);
  }

  @FieldResolver(() => ID, { description: 'ID of the certificate, or of the certificate authority.' })
  subjectId(@Root() { id }: MatchType): string {
    return id;
  }

  @nested(CertificateType, 'The certificate; null for that of an authority of the project.')
  certificate({ id, isAuthority }: MatchType, ctx: Context): Promise<CertificateType | null> {
    return linked(ctx, this.#certificates, isAuthority ? null : id);
  }

  @nested(AuthorityType, 'The authority of the project whose certificate it is; null for another certificate.')
  authority({ id, isAuthority }: MatchType, ctx: Context): Promise<AuthorityType | null> {
    return linked(ctx, this.#authorities, isAuthority ? id : null);
  }
}

@Resolver(() => MatchConnection)
export class MatchCountResolver {
  /** Compiled documents call no function that they find in a field. */
  @FieldResolver(() => Int, { nullable: true })
  totalCount(@Root() page: MatchedPage): Promise<number | null> {
    return page.totalCount();
  }
}

const MatchPageArgs = argsType(MatchPage);

/** What alerts show of the certificates that they are about. */
@Resolver(() => AlertType)
export class AlertMatchesResolver {
  constructor(private readonly service: MatchService) {}

  @nested(
    [MatchType],
    'The certificates that it is about right now, notified or not, soonest expiry first: those that you may read.',
    MatchPageArgs,
  )
  async certificates(alert: AlertType, ctx: Context, page: object): Promise<readonly MatchType[]> {
    return (await this.service.pageOfAlert(ctx, alert, page)).nodes;
  }

  @nested(MatchConnection, 'As `certificates`, in pages.', MatchPageArgs)
  certificateConnection(alert: AlertType, ctx: Context, page: object): Promise<Shown> {
    return this.service.pageOfAlert(ctx, alert, page);
  }
}
