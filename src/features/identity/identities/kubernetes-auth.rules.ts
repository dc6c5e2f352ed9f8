import * as z from 'zod';
import { validationFailed } from '../../../kernel/validation.js';
import { certificates, configurationRules, line, pattern, url } from './auth-configuration.rules.js';

/** Inputs of Kubernetes authentication. */
export const KubernetesAuthRules = configurationRules('Kubernetes authentication', {
  host: url('https://cluster.example.com:6443').meta({
    description: 'URL of the API of the cluster, for example `https://cluster.example.com:6443`.',
  }),
  caCertificate: certificates
    .meta({ description: 'Certificates in PEM that the API is trusted by, in place of the public authorities.' })
    .nullish(),
  reviewerToken: z
    .string()
    .trim()
    .min(1)
    .max(15_000)
    .regex(/^[!-~]*$/, 'must be a token, without spaces')
    .meta({
      description:
        'Token of a service account that may review tokens. It is stored encrypted. Null: a token that logs in asks for its own review, and its account needs that right.',
    })
    .nullish(),
  namespaces: z.array(pattern).max(50).meta({ description: 'Patterns of namespaces. Empty: any.' }).default([]),
  names: z
    .array(pattern)
    .max(50)
    .meta({ description: 'Patterns of the names of service accounts. Empty: any.' })
    .default([]),
  audience: line(1_000)
    .meta({ description: 'Audience that a token must be for. Null: that of the cluster.' })
    .nullish(),
});

/** @throws VALIDATION_FAILED for conditions that let every service account of the cluster in */
export function requireAccounts({
  namespaces,
  names,
}: {
  namespaces: readonly string[];
  names: readonly string[];
}): void {
  if (namespaces.length > 0 || names.length > 0) return;
  throw validationFailed([
    {
      path: 'namespaces',
      code: 'BINDING_REQUIRED',
      message: 'at least one namespace or name must be set: otherwise any service account of the cluster would log in',
    },
  ]);
}
