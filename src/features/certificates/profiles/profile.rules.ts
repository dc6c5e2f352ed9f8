import { z } from 'zod';
import { compileGlob } from '../../../kernel/authz/glob.js';
import { integer } from '../../../kernel/int.js';
import { pageRules } from '../../../kernel/paging.js';
import { idOf, personText, slugText, storedText } from '../../../kernel/text-rules.js';
import { EVEN_IF_FAULTY, looseTexts } from '../../../kernel/validation.js';
import { expectedVersion } from '../../../kernel/version.js';
import { keyAlgorithm, subjectText } from '../authorities/authority.rules.js';
import { nameKind } from '../authorities/name-constraints.rules.js';
import { renewDays } from '../certificates/certificate.rules.js';
import { EXTENDED_KEY_USAGES, KEY_USAGES } from '../x509/usages.js';

/** Parts of the name of a subject. */
export const SUBJECT_ATTRIBUTES = [
  ...(['commonName', 'organization', 'organizationalUnit', 'locality', 'province', 'country'] as const),
] as const;
export type SubjectAttribute = (typeof SUBJECT_ATTRIBUTES)[number];

/** Whether certificates of a profile are those of authorities. */
export const CA_POLICIES = ['denied', 'allowed', 'required'] as const;

export const subjectAttribute = z.enum(SUBJECT_ATTRIBUTES);
export const keyUsage = z.enum(KEY_USAGES);
export const extendedKeyUsage = z.enum(EXTENDED_KEY_USAGES);
export const caPolicy = z.enum(CA_POLICIES);

/** How long certificates last, at most, in days. */
export const MAX_DAYS = 36_500;
const MAX_PATTERNS = 20;

/** A part of a subject; empty: there is none. */
const part = (what: string) =>
  subjectText(0)
    .nullish()
    .meta({ description: `${what}, up to 64 characters; empty: none.` });

/** Parts of the name of a subject, any of which may be absent. */
export const SUBJECT_PARTS = {
  organization: part('Organization (O)'),
  organizationalUnit: part('Organizational unit (OU)'),
  locality: part('Locality (L)'),
  province: part('State or province (ST)'),
  country: z
    .string()
    .regex(/^([A-Z]{2})?$/, 'must be two capital letters, as DE')
    .nullish()
    .meta({ description: 'Country (C), two capital letters; empty: none.' }),
};

const pattern = storedText(255)
  .min(1)
  .superRefine((text, issues) => {
    const compiled = text.length > 0 && text.length <= 255 ? compileGlob(text) : null;
    if (typeof compiled === 'string') issues.addIssue({ code: 'custom', message: compiled });
  });
const patterns = (description: string) => z.array(pattern).max(MAX_PATTERNS).nullish().meta({ description });

/** What values may be. Not set: anything; an empty list of what is allowed: nothing. */
const POLICY = {
  allowed: patterns('Globs of which a value has to match one. Absent: any value is allowed; empty: none is.'),
  required: patterns('Globs each of which a value has to match.'),
  denied: patterns('Globs that no value may match.'),
};

/** What an attribute of the subject may be. */
export const AttributePolicy = z
  .strictObject({ attribute: subjectAttribute.meta({ description: 'Which attribute of the subject.' }), ...POLICY })
  .meta({ description: 'What an attribute of the subject may be.' });

/** What alternative names of a kind may be. */
export const NamePolicy = z
  .strictObject({ kind: nameKind.meta({ description: 'Which kind of alternative names.' }), ...POLICY })
  .meta({ description: 'What alternative names of a kind may be.' });

const usagePolicy = <T extends z.ZodType>(usage: T, what: string) =>
  z
    .strictObject({
      allowed: z.array(usage).nullish().meta({ description: 'Those that are allowed. Absent: all; empty: none.' }),
      required: z.array(usage).nullish().meta({ description: 'Those that each certificate has.' }),
      denied: z.array(usage).nullish().meta({ description: 'Those that no certificate has.' }),
    })
    .meta({ description: `What ${what} may be.` });

/** What key usages may be. */
export const KeyUsagePolicy = usagePolicy(keyUsage, 'usages of the key');
/** What extended key usages may be. */
export const ExtendedKeyUsagePolicy = usagePolicy(extendedKeyUsage, 'extended usages of the key');

/** Parts of the subject for requests that do not name them. */
export const DefaultSubject = z
  .strictObject(SUBJECT_PARTS)
  .meta({ description: 'Parts of the subject for requests that do not name them.' });

/** What certificates have where their request does not say. */
export const ProfileDefaults = z
  .strictObject({
    subject: DefaultSubject.nullish().meta({ description: 'Parts of the subject.' }),
    keyAlgorithm: keyAlgorithm.nullish().meta({ description: 'What keys are made with.' }),
    keyUsages: z.array(keyUsage).nullish().meta({
      description: 'Usages of the key. Absent: `digitalSignature` and what fits the key; empty: none.',
    }),
    extendedKeyUsages: z.array(extendedKeyUsage).nullish().meta({
      description: 'Extended usages. Absent: those that are required; empty: none.',
    }),
    validDays: integer(1, MAX_DAYS).nullish().meta({ description: 'How long certificates last, in days.' }),
  })
  .meta({ description: 'What certificates have where their request does not say.' });

const onceEach = (field: string) =>
  [
    (entries: readonly unknown[]) => {
      const texts = looseTexts(entries, field);
      return new Set(texts).size === texts.length;
    },
    { ...EVEN_IF_FAULTY, error: `must name each ${field} once` },
  ] as const;

/** What a profile says of certificates. Null: it says nothing of that. */
export const PROFILE_RULES = {
  subject: z
    .array(AttributePolicy)
    .refine(...onceEach('attribute'))
    .nullish()
    .meta({ description: 'Attributes that a subject may have. Absent: any; empty: none.' }),
  sans: z
    .array(NamePolicy)
    .refine(...onceEach('kind'))
    .nullish()
    .meta({ description: 'Kinds of alternative names that there may be. Absent: any; empty: none.' }),
  keyAlgorithms: z.array(keyAlgorithm).nullish().meta({
    description: 'What keys may be made with. Absent: any algorithm; empty: none.',
  }),
  keyUsages: KeyUsagePolicy.nullish().meta({ description: 'What keys may be used for. Absent: anything.' }),
  extendedKeyUsages: ExtendedKeyUsagePolicy.nullish().meta({
    description: 'What keys may be used for, as extended usages have it. Absent: anything.',
  }),
  maxPathLength: integer(0, 10).nullish().meta({
    description: 'Of certificates of authorities, how many authorities may follow below, at most. Absent: any number.',
  }),
  maxDays: integer(1, MAX_DAYS).nullish().meta({
    description: 'How long certificates may last, in days. Absent: as long as their issuer.',
  }),
  defaults: ProfileDefaults.nullish().meta({ description: 'What certificates have where their request does not say.' }),
};

const ca = caPolicy.meta({ description: 'Whether certificates are those of authorities.' });
const description = personText(0, 1_000).nullish().meta({ description: 'What it is for, up to 1,000 characters.' });
const projectId = idOf('The project, of the type `cert-manager`.');
const id = idOf('certificate profile');
const authorityId = idOf('certificate authority of the project that issues its certificates');

const renewBeforeDays = renewDays.nullish().meta({
  description:
    'How many days before its end a certificate is renewed by the service, but not before half of its life is over. Absent or 0: never. Single certificates may say otherwise.',
});

/** Input of `createCertificateProfile`. */
export const CreateProfile = z
  .strictObject({
    projectId,
    slug: slugText(1, 64).meta({
      description: 'Lower-case words joined by hyphens, unique in the project; it never changes.',
    }),
    description,
    authorityId,
    ca: ca.default('denied'),
    renewBeforeDays,
    ...PROFILE_RULES,
  })
  .meta({ description: 'A new certificate profile.' });

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
  .meta({ description: 'Changes of a certificate profile. What is absent stays; null: as if it had never been set.' });

/** Input of `deleteCertificateProfile`, and arguments of `certificateProfile`. */
export const OneProfile = z.strictObject({ id }).meta({ description: 'Which certificate profile.' });

/** Arguments of `certificateProfiles`. */
export const ListProfiles = z.strictObject({ projectId, ...pageRules });

type Rules = z.output<z.ZodObject<typeof PROFILE_RULES>>;
/** What a profile says of certificates, as it is stored: null for what is not set. */
export type ProfileRules = { readonly [K in keyof Rules]-?: Exclude<Rules[K], undefined> } & {
  readonly ca: (typeof CA_POLICIES)[number];
};

/** The fields of `ProfileRules`. */
export const RULE_FIELDS = ['ca', ...(Object.keys(PROFILE_RULES) as (keyof typeof PROFILE_RULES)[])] as const;
