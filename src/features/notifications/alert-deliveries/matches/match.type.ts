import { Field, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../../kernel/graphql/date-time.js';
import { hidden, objectType, orNull } from '../../../../kernel/graphql/object-types.js';
import { soughtConnectionOf } from '../../../../kernel/graphql/page.js';

/** A certificate that an alert applies to, as the API shows it. */
export const MatchType = objectType(
  'CertificateAlertMatch',
  'A certificate that an alert applies to: one of the inventory, or that of a certificate authority.',
  {
    isAuthority: hidden<boolean>(),
    id: hidden<string>(),
    commonName: [String, 'Common name (CN) of the subject. Empty if it has none.'],
    sans: [[String], 'Subject alternative names. Names after the first 100 may be left out.'],
    profileName: [orNull(String), 'Slug of the profile that issued the certificate. Null if issued without one.'],
    serialNumber: [String, 'Serial number, in upper-case hexadecimal, for example `4A7F09C2D1E85B36`.'],
    isCa: [Boolean, 'Whether it is the certificate of a certificate authority.'],
    notBefore: [DateTime, 'Start of the validity period.'],
    notAfter: [DateTime, 'End of the validity period.'],
  },
);
export type MatchType = InstanceType<typeof MatchType>;

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
