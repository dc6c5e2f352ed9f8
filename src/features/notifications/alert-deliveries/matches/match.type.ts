import { Field, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../../kernel/graphql/date-time.js';
import { soughtConnectionOf } from '../../../../kernel/graphql/page.js';

/** A certificate that an alert applies to, as the API shows it. */
@ObjectType('CertificateAlertMatch', {
  description: 'A certificate that an alert applies to: one of the inventory, or that of a certificate authority.',
  simpleResolvers: true,
})
export class MatchType {
  readonly isAuthority!: boolean;
  readonly id!: string;

  @Field(() => String, { description: 'Common name (CN) of the subject. Empty if it has none.' })
  commonName!: string;

  @Field(() => [String], { description: 'Subject alternative names. Names after the first 100 may be left out.' })
  sans!: readonly string[];

  @Field(() => String, {
    nullable: true,
    description: 'Slug of the profile that issued the certificate. Null if issued without one.',
  })
  profileName!: string | null;

  @Field(() => String, { description: 'Serial number, in upper-case hexadecimal, for example `4A7F09C2D1E85B36`.' })
  serialNumber!: string;

  @Field(() => Boolean, { description: 'Whether it is the certificate of a certificate authority.' })
  isCa!: boolean;

  @Field(() => DateTime, { description: 'Start of the validity period.' })
  notBefore!: Date;

  @Field(() => DateTime, { description: 'End of the validity period.' })
  notAfter!: Date;
}

@ObjectType('CertificateAlertMatchConnection', {
  description: 'Certificates that an alert applies to, soonest expiration first.',
  simpleResolvers: true,
})
export class MatchConnection extends soughtConnectionOf(
  MatchType,
  'CertificateAlertMatch',
  'expiration, soonest first',
) {
  @Field(() => Int, {
    nullable: true,
    description:
      'Total number of certificates, on all pages. Null if counting would scan more than 10,000. Computed only on request.',
  })
  totalCount!: () => Promise<number | null>;
}
