import * as z from 'zod';
import { integer } from '../../../kernel/number-rules.js';
import { idOf, storedText } from '../../../kernel/text-rules.js';
import { EVEN_IF_INVALID } from '../../../kernel/validation.js';
import { CreateAuthority } from '../authorities/authority.rules.js';
import { lifetime, MAX_DAYS, refuseTwoLifetimes } from '../authorities/lifetime.rules.js';
import { metadata } from '../certificates/certificate.rules.js';

/** Input of `signIntermediateCertificate`. */
export const SignIntermediate = z
  .strictObject({
    authorityId: idOf('certificate authority that signs the certificate'),
    // Longer strings are rejected when the request is parsed.
    request: storedText(1_048_576).meta({
      description:
        'PEM: the certificate request (PKCS#10) of the external authority. Only its subject and key are used.',
    }),
    maxPathLength: CreateAuthority.shape.maxPathLength,
    nameConstraints: CreateAuthority.shape.nameConstraints,
    validDays: integer(1, MAX_DAYS).nullish().meta({
      description:
        'Validity of the certificate in days, 1 to 36,500, but not beyond its issuer. Absent: 5 years, or until the issuer expires.',
    }),
    ...lifetime,
    metadata: metadata.default([]),
  })
  .superRefine(refuseTwoLifetimes, EVEN_IF_INVALID)
  .meta({ description: 'The certificate request of the external authority, and the authority that signs.' });
