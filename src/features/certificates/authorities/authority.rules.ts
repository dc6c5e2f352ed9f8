import { z } from 'zod';
import { integer } from '../../../kernel/int.js';
import { pageRules } from '../../../kernel/paging.js';
import { HAS_NO_CONTROL_CHARACTERS, idOf, personText, storedText } from '../../../kernel/text-rules.js';
import { expectedVersion } from '../../../kernel/version.js';
import { reason } from '../revocation/revocation.rules.js';
import { KEY_ALGORITHMS } from '../x509/keys.js';
import { nameConstraints } from './name-constraints.rules.js';

/** Kinds of authorities. */
export const AUTHORITY_KINDS = ['root', 'intermediate'] as const;
export type AuthorityKind = (typeof AUTHORITY_KINDS)[number];

/** What an authority can be. */
export const AUTHORITY_STATUSES = ['active', 'disabled', 'pending'] as const;
export type AuthorityStatus = (typeof AUTHORITY_STATUSES)[number];

export const authorityKind = z.enum(AUTHORITY_KINDS);
/** What people set. */
export const settableStatus = z.enum(['active', 'disabled']);
export const keyAlgorithm = z.enum(KEY_ALGORITHMS);

const MAX_DAYS = 36_500;
/** How long authorities last where nobody says how long, in days. */
export const USUAL_DAYS: Readonly<Record<AuthorityKind, number>> = { root: 3_650, intermediate: 1_825 };

const projectId = idOf('The project, of the type `cert-manager`.');
const id = idOf('certificate authority');

const name = personText(1, 64).meta({
  description: 'What people call it, 1 to 64 characters, unique among the authorities of the project.',
});
/** A text of a subject, which has one line. */
export const subjectText = (min: number) =>
  personText(min, 64).refine((text) => HAS_NO_CONTROL_CHARACTERS.test(text), 'must not hold control characters');

const part = (what: string) =>
  subjectText(0)
    .nullish()
    .meta({ description: `${what}, up to 64 characters.` });

/** The name of a subject. */
export const Subject = z
  .strictObject({
    commonName: subjectText(1).meta({ description: 'Common name (CN), 1 to 64 characters.' }),
    organization: part('Organization (O)'),
    organizationalUnit: part('Organizational unit (OU)'),
    locality: part('Locality (L)'),
    province: part('State or province (ST)'),
    country: z
      .string()
      .regex(/^[A-Z]{2}$/, 'must be two capital letters, as DE')
      .nullish()
      .meta({ description: 'Country (C), two capital letters.' }),
  })
  .meta({ description: 'The subject of a certificate.' });

/** Input of `createCertificateAuthority`. */
export const CreateAuthority = z
  .strictObject({
    projectId,
    name,
    kind: authorityKind.meta({
      description: 'A root signs its own certificate; that of an intermediate is signed by another authority.',
    }),
    parentId: idOf(
      'Of an intermediate: the authority of the project that signs its certificate. Without one it waits for an authority outside.',
    ).nullish(),
    subject: Subject.meta({ description: 'Whom its certificate is about.' }),
    keyAlgorithm: keyAlgorithm.default('ec-p256').meta({ description: 'What its key is made with.' }),
    maxPathLength: integer(0, 10).nullish().meta({
      description:
        'How many authorities there may be in a chain below it, 0 to 10; absent: as many as its issuer allows.',
    }),
    nameConstraints,
    validDays: integer(1, MAX_DAYS).nullish().meta({
      description:
        'How long its certificate is valid, 1 to 36,500 days, and no longer than its issuer. Absent: 10 years for a root, 5 years for an intermediate, or as long as its issuer.',
    }),
  })
  .meta({ description: 'A new certificate authority.' });

/** Input of `activateCertificateAuthority`. */
export const ActivateAuthority = z
  .strictObject({
    id,
    // What is longer than a bundle may be is refused as a bundle.
    certificate: storedText(1_048_576).meta({
      description: 'PEM: the certificate that its request got, and if you like the certificates of its issuers.',
    }),
    chain: storedText(1_048_576).nullish().meta({ description: 'PEM: the certificates of its issuers, in any order.' }),
  })
  .meta({ description: 'The answer of an outside authority to the request of a certificate authority.' });

/** Input of `updateCertificateAuthority`. */
export const UpdateAuthority = z
  .strictObject({
    id,
    expectedVersion,
    name: name.optional(),
    status: settableStatus.optional().meta({ description: 'Whether it may issue certificates.' }),
  })
  .meta({ description: 'Changes of a certificate authority. What is absent stays.' });

/** Input of `renewCertificateAuthority`. */
export const RenewAuthority = z
  .strictObject({ id, expectedVersion, validDays: CreateAuthority.shape.validDays })
  .meta({ description: 'A certificate authority that gets a new certificate of the same key.' });

/** Input of `createCertificateAuthoritySuccessor`. */
export const SucceedAuthority = CreateAuthority.omit({ projectId: true, kind: true, parentId: true })
  .extend({
    predecessorId: idOf('certificate authority that it follows'),
    disablePredecessor: z.boolean().default(false).meta({
      description:
        'Whether the authority that it follows issues nothing from now on. It goes on with its revocation list.',
    }),
  })
  .meta({
    description:
      'A certificate authority with a new key that follows another one, of its kind and below the same parent.',
  });

/** Input of `revokeCertificateAuthority`. */
export const RevokeAuthority = z
  .strictObject({ id, reason })
  .meta({ description: 'A certificate authority whose certificate shall not hold any more.' });

/** Input of `deleteCertificateAuthority`, and arguments of `certificateAuthority`. */
export const OneAuthority = z.strictObject({ id }).meta({ description: 'Which certificate authority.' });

/** Arguments of `certificateAuthorities`. */
export const ListAuthorities = z.strictObject({ projectId, ...pageRules });
