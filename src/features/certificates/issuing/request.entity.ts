import { defineEntity, p } from '@mikro-orm/core';
import type { Actor } from '../../../kernel/context.js';
import { projectColumns } from '../../../kernel/database/columns.js';

/** Kinds of requests. */
export const REQUEST_KINDS = ['issuance', 'renewal'] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

/** States of requests. */
export const REQUEST_STATES = ['pending', 'issued', 'failed'] as const;
export type RequestState = (typeof REQUEST_STATES)[number];

/** An error at one path of a request. */
export interface RequestError {
  readonly path: string;
  readonly message: string;
}

export const CertificateRequestSchema = defineEntity({
  name: 'CertificateRequest',
  tableName: 'certificate_request',
  properties: {
    ...projectColumns,
    kind: p.text().$type<RequestKind>(),
    state: p.text().$type<RequestState>(),
    isAutomatic: p.boolean(),
    actorKind: p.text().$type<Actor['kind']>(),
    actorId: p.uuid(),
    profileSlug: p.text().nullable(),
    commonName: p.text(),
    certificateId: p.uuid().nullable(),
    issuedCertificateId: p.uuid().nullable(),
    errorCode: p.text().nullable(),
    faults: p.json<readonly RequestError[]>().defaultRaw(`'[]'`),
    endedAt: p.datetime(3).nullable(),
  },
});

/** A request for a certificate, of a caller or of the service itself. */
export class CertificateRequest extends CertificateRequestSchema.class {}
CertificateRequestSchema.setClass(CertificateRequest);
