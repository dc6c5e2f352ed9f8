import { z } from 'zod';
import { integer } from '../../../kernel/int.js';
import { idOf, storedText } from '../../../kernel/text-rules.js';
import { CreateAuthority } from '../authorities/authority.rules.js';
import { metadata } from '../certificates/certificate.rules.js';

/** Input of `signIntermediateCertificate`. */
export const SignIntermediate = z
  .strictObject({
    authorityId: idOf('certificate authority that signs'),
    // What is longer than a request may be is refused as a request.
    request: storedText(1_048_576).meta({
      description:
        'PEM: the certificate request (PKCS#10) of the authority outside. Its subject and its key count, nothing else.',
    }),
    maxPathLength: CreateAuthority.shape.maxPathLength,
    nameConstraints: CreateAuthority.shape.nameConstraints,
    validDays: integer(1, 36_500).nullish().meta({
      description:
        'How long the certificate is valid, 1 to 36,500 days, and no longer than its issuer. Absent: 5 years, or as long as its issuer.',
    }),
    metadata: metadata.default([]),
  })
  .meta({ description: 'A certificate for an authority outside of the service.' });
