import * as z from 'zod';
import { idOf, storedText } from '../../../kernel/value-rules.js';
import { metadata, replacesId } from '../certificates/certificate.rules.js';

/** Maximum size of a file; its base64 is a third longer. */
const MAX_FILE_BYTES = 64 * 1024;
const MIN_PASSWORD = 12;
const MAX_PASSWORD = 255;

/** Input of `importCertificatePkcs12`. */
export const ImportPkcs12 = z
  .strictObject({
    projectId: idOf('ID of the project. It must be of type `cert-manager`.'),
    pkcs12: z
      .string()
      .min(1)
      .max(Math.ceil(MAX_FILE_BYTES / 3) * 4)
      .regex(/^[A-Za-z0-9+/]+={0,2}$/, 'must be base64')
      .meta({
        description:
          'PKCS#12 file (`.p12`, `.pfx`) in base64, with the certificate and optionally its chain and key. Up to 64 KiB before encoding.',
      }),
    password: storedText(MAX_PASSWORD).meta({ description: 'Password of the file. May be empty.' }),
    replacesId,
    metadata: metadata.default([]),
  })
  .meta({ description: 'The PKCS#12 file to import.' });

/** Arguments of `certificatePkcs12`. */
export const ExportPkcs12 = z
  .strictObject({
    id: idOf('certificate'),
    password: storedText(MAX_PASSWORD).min(MIN_PASSWORD).meta({
      description: 'Password that encrypts the file, 12 to 255 characters. Send it as a variable in a POST request.',
    }),
  })
  .meta({ description: 'The certificate, by ID, and the password of the file.' });
