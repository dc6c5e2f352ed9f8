import * as z from 'zod';
import { compileGlob } from '../../../kernel/authz/glob.js';
import { pageRules } from '../../../kernel/paging.js';
import { EVEN_IF_INVALID, textsOfField } from '../../../kernel/validation.js';
import { expectedVersion, idOf, integer, personText, slugText, storedText } from '../../../kernel/value-rules.js';
import { keyAlgorithm, nameKind, subjectText } from '../authorities/authority.rules.js';
import { MAX_DAYS } from '../authorities/lifetime.rules.js';
import { renewDays } from '../certificates/certificate.rules.js';
import { EXTENDED_KEY_USAGES, KEY_USAGES } from '../x509/usages.js';

/** Attributes of a subject. */
export const SUBJECT_ATTRIBUTES = [
  ...(['commonName', 'organization', 'organizationalUnit', 'locality', 'province', 'country'] as const),
] as const;
export type SubjectAttribute = (typeof SUBJECT_ATTRIBUTES)[number];

/** Whether a profile is for CA certificates. */
export const CA_POLICIES = ['denied', 'allowed', 'required'] as const;

export const subjectAttribute = z.enum(SUBJECT_ATTRIBUTES);
export const keyUsage = z.enum(KEY_USAGES);
export const extendedKeyUsage = z.enum(EXTENDED_KEY_USAGES);
export const caPolicy = z.enum(CA_POLICIES);

const MAX_PATTERNS = 20;

/** A subject attribute; empty: none. */
const part = (what: string) =>
  subjectText(0)
    .nullish()
    .meta({ description: `${what}, up to 64 characters. An empty string means none.` });

/** Subject attributes, all optional. */
export const SUBJECT_PARTS = {
  organization: part('Organization (O)'),
  organizationalUnit: part('Organizational unit (OU)'),
  locality: part('Locality (L)'),
  province: part('State or province (ST)'),
  country: z
    .string()
    .regex(/^([A-Z]{2})?$/, 'must be two upper-case letters, for example DE')
    .nullish()
    .meta({ description: 'Country (C): two upper-case letters, for example `DE`. An empty string means none.' }),
};

const pattern = storedText(255)
  .min(1)
  .superRefine((text, issues) => {
    const compiled = text.length > 0 && text.length <= 255 ? compileGlob(text) : null;
    if (typeof compiled === 'string') issues.addIssue({ code: 'custom', message: compiled });
  });
const patterns = (description: string) => z.array(pattern).max(MAX_PATTERNS).nullish().meta({ description });

/** Limits of values. Not set: anything; an empty list of allowed values: nothing. */
const POLICY = {
  allowed: patterns(
    'Glob patterns, for example `*.example.com`; a value must match one of them. Absent: any value; empty: none.',
  ),
  required: patterns('Glob patterns, each of which at least one value must match.'),
  denied: patterns('Glob patterns that no value may match.'),
};

/** Limits of a subject attribute. */
export const AttributePolicy = z
  .strictObject({ attribute: subjectAttribute.meta({ description: 'Subject attribute.' }), ...POLICY })
  .meta({ description: 'Limits of the values of a subject attribute.' });

/** Limits of alternative names of a kind. */
export const NamePolicy = z
  .strictObject({ kind: nameKind.meta({ description: 'Kind of alternative names.' }), ...POLICY })
  .meta({ description: 'Limits of subject alternative names of one kind.' });

const usagePolicy = <T extends z.ZodType>(usage: T, what: string) =>
  z
    .strictObject({
      allowed: z.array(usage).nullish().meta({ description: 'Allowed usages. Absent: all; empty: none.' }),
      required: z.array(usage).nullish().meta({ description: 'Usages that every certificate must have.' }),
      denied: z.array(usage).nullish().meta({ description: 'Usages that no certificate may have.' }),
    })
    .meta({ description: `Limits of ${what}.` });

/** Limits of key usages. */
export const KeyUsagePolicy = usagePolicy(keyUsage, 'key usages');
/** Limits of extended key usages. */
export const ExtendedKeyUsagePolicy = usagePolicy(extendedKeyUsage, 'extended key usages');

/** Default subject attributes. */
export const DefaultSubject = z
  .strictObject(SUBJECT_PARTS)
  .meta({ description: 'Subject attributes for requests that do not set them.' });

/** Defaults of certificates. */
export const ProfileDefaults = z
  .strictObject({
    subject: DefaultSubject.nullish().meta({ description: 'Default subject attributes.' }),
    keyAlgorithm: keyAlgorithm.nullish().meta({ description: 'Default key algorithm.' }),
    keyUsages: z.array(keyUsage).nullish().meta({
      description:
        'Default key usages. Absent: `digitalSignature` and those that fit the key; an empty list omits the extension.',
    }),
    extendedKeyUsages: z.array(extendedKeyUsage).nullish().meta({
      description: 'Default extended key usages. Absent: the required ones; an empty list omits the extension.',
    }),
    validDays: integer(1, MAX_DAYS).nullish().meta({ description: 'Default validity in days.' }),
  })
  .meta({ description: 'Defaults for fields that a request does not set.' });

const onceEach = (field: string) =>
  [
    (entries: readonly unknown[]) => {
      const texts = textsOfField(entries, field);
      return new Set(texts).size === texts.length;
    },
    { ...EVEN_IF_INVALID, error: `must not repeat the ${field}` },
  ] as const;

/** The limits of a profile. Null: no limit. */
const PROFILE_RULES = {
  subject: z
    .array(AttributePolicy)
    .refine(...onceEach('attribute'))
    .nullish()
    .meta({
      description: 'Limits of subject attributes; others are not allowed. Absent: any attributes; empty: none.',
    }),
  sans: z
    .array(NamePolicy)
    .refine(...onceEach('kind'))
    .nullish()
    .meta({
      description: 'Limits of subject alternative names; other kinds are not allowed. Absent: any names; empty: none.',
    }),
  keyAlgorithms: z.array(keyAlgorithm).nullish().meta({
    description: 'Allowed key algorithms. Absent: any; empty: none.',
  }),
  keyUsages: KeyUsagePolicy.nullish().meta({ description: 'Limits of key usages. Absent: any.' }),
  extendedKeyUsages: ExtendedKeyUsagePolicy.nullish().meta({
    description: 'Limits of extended key usages. Absent: any.',
  }),
  maxPathLength: integer(0, 10).nullish().meta({
    description: 'Maximum path length of CA certificates. Absent: unlimited.',
  }),
  maxDays: integer(1, MAX_DAYS).nullish().meta({
    description: 'Maximum validity in days. Absent: limited only by the issuer.',
  }),
  defaults: ProfileDefaults.nullish().meta({ description: 'Defaults for fields that a request does not set.' }),
};

const ca = caPolicy.meta({ description: 'Whether CA certificates are allowed.' });
const description = personText(0, 1_000)
  .nullish()
  .meta({ description: 'Description of the profile, up to 1,000 characters.' });
const projectId = idOf('ID of the project. It must be of type `cert-manager`.');
const id = idOf('certificate profile');
const authorityId = idOf('certificate authority of the project that issues its certificates');

const renewBeforeDays = renewDays.nullish().meta({
  description:
    'How many days before expiration the service renews a certificate, but not before half of its validity. Absent or 0: never. Certificates can override it.',
});

/** Input of `createCertificateProfile`. */
export const CreateProfile = z
  .strictObject({
    projectId,
    slug: slugText(1, 64).meta({
      description:
        'Slug of the profile: lower-case words separated by hyphens, for example `web-server`. Unique in the project. It cannot change.',
    }),
    description,
    authorityId,
    ca: ca.default('denied'),
    renewBeforeDays,
    ...PROFILE_RULES,
  })
  .meta({ description: 'Fields of the new certificate profile.' });

/** Input of `updateCertificateProfile`. */
export const UpdateProfile = z
  .strictObject({
    id,
    expectedVersion,
    description,
    authorityId: authorityId.optional(),
    ca: ca.optional(),
    renewBeforeDays,
    ...PROFILE_RULES,
  })
  .meta({
    description: 'Fields of the certificate profile to change. Absent fields keep their value; null resets a field.',
  });

/** Input of `deleteCertificateProfile`, and arguments of `certificateProfile`. */
export const OneProfile = z.strictObject({ id }).meta({ description: 'The certificate profile, by ID.' });

/** Arguments of `certificateProfiles`. */
export const ListProfiles = z.strictObject({ projectId, ...pageRules });

type Rules = z.output<z.ZodObject<typeof PROFILE_RULES>>;
/** The limits of a profile as stored: null if not set. */
export type ProfileRules = { readonly [K in keyof Rules]-?: Exclude<Rules[K], undefined> } & {
  readonly ca: (typeof CA_POLICIES)[number];
};

/** The fields of `ProfileRules`. */
export const RULE_FIELDS = ['ca', ...(Object.keys(PROFILE_RULES) as (keyof typeof PROFILE_RULES)[])] as const;
