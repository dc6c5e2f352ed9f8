import { z } from 'zod';
import { idOf, storedText } from '../../../kernel/text-rules.js';
import { metadata } from '../certificates/certificate.rules.js';

/** Of a file; its base64 is a third longer. */
const MAX_FILE_BYTES = 64 * 1024;
const MIN_PASSWORD = 12;
const MAX_PASSWORD = 255;

/** Input of `importCertificatePkcs12`. */
export const ImportPkcs12 = z
  .strictObject({
    projectId: idOf('The project, of the type `cert-manager`.'),
    pkcs12: z
      .string()
      .min(1)
      .max(Math.ceil(MAX_FILE_BYTES / 3) * 4)
      .regex(/^[A-Za-z0-9+/]+={0,2}$/, 'must be base64')
      .meta({
        description:
          'Base64 of a PKCS#12 file (`.p12`, `.pfx`) with the certificate, its chain and its key if it is there; up to 64 KiB.',
      }),
    password: storedText(MAX_PASSWORD).meta({ description: 'The password of the file; may be empty.' }),
    metadata: metadata.default([]),
  })
  .meta({ description: 'A certificate that was made elsewhere, in a PKCS#12 file.' });

/** Arguments of `certificatePkcs12`. */
export const ExportPkcs12 = z
  .strictObject({
    id: idOf('certificate'),
    password: storedText(MAX_PASSWORD)
      .min(MIN_PASSWORD)
      .meta({ description: 'The password of the file, 12 to 255 characters. Send it as a variable, by POST.' }),
  })
  .meta({ description: 'A certificate with its key, as a file.' });
