import { writePkcs12 } from '../../../src/features/certificates/formats/pkcs12-writing.js';
import { newKeyPair } from '../../../src/features/certificates/x509/keys.js';
import { makeAuthorityRequest } from '../../../src/features/certificates/x509/making.js';
import { newLeaf, newRequest, newRoot } from './material.js';

const root = await newRoot('ec-p256', 'Root of the kit');

/** A certificate with chain and key that no world has, for requests that import one. */
export const NEW_CERTIFICATE = await newLeaf(root, { commonName: 'new.example.com' });
/** The certificate that every world has. */
export const KNOWN_CERTIFICATE = await newLeaf(root, { commonName: 'known.example.com' });
/** A certificate request, for a certificate with a key that is not here. */
export const NEW_REQUEST = await newRequest('new.example.com');

const packed = await newLeaf(root, { commonName: 'packed.example.com' });
/** Another one that no world has, in a PKCS#12 file; and the password of the file. */
export const PKCS12_PASSWORD = 'a password of the kit';
export const NEW_PKCS12 = (
  await writePkcs12('own', {
    ...{ leaf: packed.certificate, chain: [root.certificate], privateKey: packed.pair.privateKey },
    ...{ name: 'packed', password: PKCS12_PASSWORD },
  })
).toString('base64');

/** The request of an authority outside. */
export const OUTSIDE_REQUEST = await makeAuthorityRequest({ commonName: 'Outside' }, await newKeyPair('ec-p256'), {
  maxPathLength: null,
});
