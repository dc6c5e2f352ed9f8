import { Field, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { soughtConnectionOf } from '../../../kernel/graphql/page.js';

/** What the API shows of a certificate that an alert is about. */
@ObjectType('CertificateAlertMatch', {
  description: 'A certificate that an alert is about: one of the inventory, or that of a certificate authority.',
  simpleResolvers: true,
})
export class MatchType {
  readonly isAuthority!: boolean;
  readonly id!: string;

  @Field(() => String, { description: 'Common name of its subject; empty if it has none.' })
  commonName!: string;

  @Field(() => [String], { description: 'Its alternative names: the first hundred at least.' })
  sans!: readonly string[];

  @Field(() => String, { nullable: true, description: 'Slug of the profile that it was issued by; null without one.' })
  profileName!: string | null;

  @Field(() => String, { description: 'Its serial number, hexadecimal in upper case.' })
  serialNumber!: string;

  @Field(() => Boolean, { description: 'Whether it is the certificate of an authority.' })
  isCa!: boolean;

  @Field(() => DateTime, { description: 'When it begins.' })
  notBefore!: Date;

  @Field(() => DateTime, { description: 'When it expires.' })
  notAfter!: Date;
}

@ObjectType('CertificateAlertMatchConnection', {
  description: 'Certificates that an alert is about, ordered by when they expire, the next one first.',
  simpleResolvers: true,
})
export class MatchConnection extends soughtConnectionOf(
  MatchType,
  'CertificateAlertMatch',
  'when they expire, the next one first',
) {
  @Field(() => Int, {
    nullable: true,
    description:
      'How many there are in all, on whatever page; null if that takes looking at more than 10,000. Counted only if you ask for it.',
  })
  totalCount!: () => Promise<number | null>;
}
