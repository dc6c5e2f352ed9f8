import * as z from 'zod';
import { isCidr } from '../../../kernel/addresses.js';
import { pageRules } from '../../../kernel/paging.js';
import { EVEN_IF_INVALID } from '../../../kernel/validation.js';
import {
  expectedVersion,
  HAS_NO_CONTROL_CHARACTERS,
  idOf,
  integer,
  personText,
  storedText,
} from '../../../kernel/value-rules.js';
import { reason } from '../revocation/revocation.rules.js';
import { KEY_ALGORITHMS } from '../x509/keys.js';
import { lifetime, MAX_DAYS, refuseTwoLifetimes } from './lifetime.rules.js';

const HOST = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const MAILBOX = /^[\x21-\x3f\x41-\x7e]{1,64}@[^@]+$/;
const MAX_SUBTREES = 50;

const isDomain = (text: string): boolean => HOST.test(text.replace(/^\./, ''));

/** Format of a subtree of each kind. */
const FORMS = {
  dns: {
    fits: (text: string) => HOST.test(text),
    form: 'a DNS name, for example example.com, which includes its subdomains',
  },
  ip: {
    fits: (text: string) => text.includes('/') && isCidr(text),
    form: 'a network in CIDR notation, for example 10.0.0.0/8',
  },
  email: {
    fits: (text: string) => (MAILBOX.test(text) ? HOST.test(text.replace(/^.*@/, '')) : isDomain(text)),
    form: 'an email address, a host such as example.com, or all hosts of a domain such as .example.com',
  },
  uri: { fits: isDomain, form: 'a host such as example.com, or all hosts of a domain such as .example.com' },
} as const;

export const nameKind = z.enum(['dns', 'ip', 'email', 'uri']);

/** A subtree of names of one kind. */
export const Subtree = z
  .strictObject({
    kind: nameKind.meta({ description: 'Kind of the names.' }),
    value: z.string().trim().toLowerCase().min(1).max(253).meta({
      description:
        'Subtree of names. DNS: a name with its subdomains, for example `example.com`. IP: a network, for example `10.0.0.0/8`. Email: an address, a host, or a domain such as `.example.com`. URI: a host or a domain such as `.example.com`.',
    }),
  })
  .superRefine(({ kind, value }, issues) => {
    const { fits, form } = FORMS[kind];
    if (!fits(value)) issues.addIssue({ code: 'custom', path: ['value'], message: `must be ${form}` });
  })
  .meta({ description: 'A subtree of names of one kind.' });

const subtrees = (description: string) => z.array(Subtree).max(MAX_SUBTREES).default([]).meta({ description });

/** Names that certificates below an authority may have. */
export const NameConstraintsRules = z
  .strictObject({
    permitted: subtrees(
      'Permitted subtrees, up to 50. For kinds listed here, certificates may only have these names; other kinds are not restricted.',
    ),
    excluded: subtrees('Excluded subtrees, up to 50. No certificate may have these names.'),
  })
  .meta({ description: 'Name constraints: the names that certificates below an authority may have.' });

/** Field of inputs that create an authority. */
const nameConstraints = NameConstraintsRules.nullish().meta({
  description:
    'Name constraints: the names that certificates issued below the authority may have. Absent: any that its issuers allow. They cannot be changed later.',
});

/** Kinds of authorities. */
const AUTHORITY_KINDS = ['root', 'intermediate'] as const;
export type AuthorityKind = (typeof AUTHORITY_KINDS)[number];

/** Statuses of an authority. */
const AUTHORITY_STATUSES = ['active', 'disabled', 'pending'] as const;
export type AuthorityStatus = (typeof AUTHORITY_STATUSES)[number];

export const authorityKind = z.enum(AUTHORITY_KINDS);
/** Statuses that callers can set. */
export const settableStatus = z.enum(['active', 'disabled']);
export const keyAlgorithm = z.enum(KEY_ALGORITHMS);

/** Default validity of authorities, in days. */
export const DEFAULT_DAYS: Readonly<Record<AuthorityKind, number>> = { root: 3_650, intermediate: 1_825 };

const projectId = idOf('ID of the project. It must be of type `cert-manager`.');
const id = idOf('certificate authority');

const name = personText(1, 64).meta({
  description: 'Name of the authority, 1 to 64 characters, unique among the authorities of the project.',
});
/** One line of text in a subject. */
export const subjectText = (min: number) =>
  personText(min, 64).refine((text) => HAS_NO_CONTROL_CHARACTERS.test(text), 'must not contain control characters');

const part = (what: string) =>
  subjectText(0)
    .nullish()
    .meta({ description: `${what}, up to 64 characters.` });

/** A subject (distinguished name). */
export const Subject = z
  .strictObject({
    commonName: subjectText(1).meta({ description: 'Common name (CN), 1 to 64 characters.' }),
    organization: part('Organization (O)'),
    organizationalUnit: part('Organizational unit (OU)'),
    locality: part('Locality (L)'),
    province: part('State or province (ST)'),
    country: z
      .string()
      .regex(/^[A-Z]{2}$/, 'must be two upper-case letters, for example DE')
      .nullish()
      .meta({ description: 'Country (C): two upper-case letters, for example `DE`.' }),
  })
  .meta({ description: 'Subject of a certificate.' });

/** Fields of a new authority. */
const NewFields = z.strictObject({
  projectId,
  name,
  kind: authorityKind.meta({
    description:
      'Kind of the authority. A root signs its own certificate; the certificate of an intermediate is signed by another authority.',
  }),
  parentId: idOf(
    'ID of the authority of the project that signs the certificate of an intermediate. If absent, the authority stays pending until you import a certificate from an external authority.',
  ).nullish(),
  subject: Subject.meta({ description: 'Subject of the certificate of the authority.' }),
  keyAlgorithm: keyAlgorithm.default('ec-p256').meta({ description: 'Algorithm of the key.' }),
  maxPathLength: integer(0, 10).nullish().meta({
    description:
      'Path length: maximum number of authorities in a chain below this one, 0 to 10. Absent: as many as the issuer allows.',
  }),
  nameConstraints,
  validDays: integer(1, MAX_DAYS).nullish().meta({
    description:
      'Validity of the certificate in days, 1 to 36,500, but not beyond its issuer. Absent: 10 years for a root, 5 years for an intermediate, or until the issuer expires.',
  }),
  ...lifetime,
});

/** Input of `createCertificateAuthority`. */
export const CreateAuthority = NewFields.superRefine(refuseTwoLifetimes, EVEN_IF_INVALID).meta({
  description: 'Fields of the new certificate authority.',
});

export type NewAuthority = z.output<typeof CreateAuthority>;

/** Input of `activateCertificateAuthority`. */
export const ActivateAuthority = z
  .strictObject({
    id,
    // Longer strings are rejected when the bundle is parsed.
    certificate: storedText(1_048_576).meta({
      description: 'PEM: the issued certificate, optionally followed by the certificates of its issuers.',
    }),
    chain: storedText(1_048_576).nullish().meta({ description: 'PEM: the certificates of its issuers, in any order.' }),
  })
  .meta({ description: 'The certificate authority, by ID, and the certificate issued for its request.' });

/** Input of `updateCertificateAuthority`. */
export const UpdateAuthority = z
  .strictObject({
    id,
    expectedVersion,
    name: name.optional(),
    status: settableStatus.optional().meta({ description: 'Whether the authority can issue certificates.' }),
  })
  .meta({ description: 'Fields of the certificate authority to change. Absent fields keep their value.' });

/** Input of `renewCertificateAuthority`. */
export const RenewAuthority = z
  .strictObject({ id, expectedVersion, validDays: NewFields.shape.validDays, ...lifetime })
  .superRefine(refuseTwoLifetimes, EVEN_IF_INVALID)
  .meta({ description: 'The certificate authority to renew, by ID.' });

/** Input of `createCertificateAuthoritySuccessor`. */
export const SucceedAuthority = NewFields.omit({ projectId: true, kind: true, parentId: true })
  .extend({
    predecessorId: idOf('certificate authority to succeed'),
    disablePredecessor: z.boolean().default(false).meta({
      description:
        'Whether to disable the predecessor, so that it issues no more certificates. It continues to publish its revocation list.',
    }),
  })
  .superRefine(refuseTwoLifetimes, EVEN_IF_INVALID)
  .meta({
    description: 'Fields of the new certificate authority, which has the kind and the parent of its predecessor.',
  });

/** Input of `revokeCertificateAuthority`. */
export const RevokeAuthority = z
  .strictObject({ id, reason })
  .meta({ description: 'The certificate authority to revoke, by ID, and the reason.' });

/** Input of `deleteCertificateAuthority`, and arguments of `certificateAuthority`. */
export const OneAuthority = z.strictObject({ id }).meta({ description: 'The certificate authority, by ID.' });

/** Arguments of `certificateAuthorities`. */
export const ListAuthorities = z.strictObject({ projectId, ...pageRules });
