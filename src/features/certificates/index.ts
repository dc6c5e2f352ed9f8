import './certificates.errors.js';
import type { Feature } from '../../feature.js';
import { nodeInProject, type ProjectLinks, type ProjectReader, projectLinkOf } from '../projects/public.js';
import { CertificateAuthority } from './authorities/authority.entity.js';
import { findAuthorities } from './authorities/authority.queries.js';
import {
  AuthorityContentResolver,
  AuthorityParentResolver,
  AuthorityResolver,
  ProjectAuthoritiesResolver,
} from './authorities/authority.resolver.js';
import { authorityRoutes } from './authorities/authority.routes.js';
import { AuthorityService, readOf as readOfAuthority } from './authorities/authority.service.js';
import { AuthorityType } from './authorities/authority.type.js';
import { Certificate } from './certificates/certificate.entity.js';
import { certificateNode } from './certificates/certificate.nodes.js';
import {
  CertificateContentResolver,
  CertificateResolver,
  ProjectCertificatesResolver,
} from './certificates/certificate.resolver.js';
import { certificateRoutes } from './certificates/certificate.routes.js';
import { CertificateService } from './certificates/certificate.service.js';
import { CertificateType } from './certificates/certificate.type.js';
import type { OnCertificateEvent } from './certificates/certificate-event.js';
import { FormatResolver } from './formats/format.resolver.js';
import { formatRoutes } from './formats/format.routes.js';
import { FormatService } from './formats/format.service.js';
import { publicDocuments } from './revocation/public-documents.js';
import { CertificateRevocation, CertificateRevocationList } from './revocation/revocation.entity.js';
import { RevocationService } from './revocation/revocation.service.js';

/** Certificate authorities of projects, and their inventory of certificates. */
export function createCertificates(deps: {
  readonly projects: ProjectReader;
  readonly links: ProjectLinks;
  readonly onCertificateEvent: OnCertificateEvent;
}): Feature {
  const authorities = new AuthorityService(deps.projects);
  const certificates = new CertificateService(deps.projects, deps.onCertificateEvent);
  return {
    entities: [CertificateAuthority, Certificate, CertificateRevocation, CertificateRevocationList],
    resolvers: [
      new AuthorityResolver(authorities),
      new AuthorityContentResolver(),
      new AuthorityParentResolver(deps.links),
      new ProjectAuthoritiesResolver(authorities),
      new (projectLinkOf(AuthorityType))(deps.links),
      new CertificateResolver(certificates),
      new FormatResolver(new FormatService(certificates)),
      new CertificateContentResolver(deps.links),
      new ProjectCertificatesResolver(certificates),
      new (projectLinkOf(CertificateType))(deps.links),
    ],
    nodes: [
      nodeInProject(deps.links, {
        type: 'CertificateAuthority',
        table: 'certificate_authority',
        action: 'certificate-authorities:read',
        find: findAuthorities,
        record: readOfAuthority,
      }),
      certificateNode(deps.links),
    ],
    routes: [...authorityRoutes, ...certificateRoutes, ...formatRoutes],
    documents: publicDocuments(new RevocationService()),
    groups: [
      {
        name: 'certificate-authorities',
        title: 'Certificate authorities',
        description: 'Who issues the certificates of a project.',
        paths: /^\/api\/v1\/cert-manager\/ca\b/,
        parameters: { caId: 'The certificate authority.' },
      },
      {
        name: 'certificates',
        title: 'Certificates',
        description: 'The inventory of certificates of a project.',
        paths: /^\/api\/v1\/cert-manager\/certificates\b/,
        parameters: { certificateId: 'The certificate.' },
      },
    ],
  };
}
