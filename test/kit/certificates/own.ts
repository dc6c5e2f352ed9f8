import { newLeaf, newRoot } from './material.js';

const root = await newRoot('ec-p256', 'Root of the kit');

/** A certificate with chain and key that no world has, for requests that import one. */
export const NEW_CERTIFICATE = await newLeaf(root, { commonName: 'new.example.com' });
/** The certificate that every world has. */
export const KNOWN_CERTIFICATE = await newLeaf(root, { commonName: 'known.example.com' });
