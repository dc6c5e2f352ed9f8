import './certificates.errors.js';
import type { Feature } from '../../feature.js';
import type { Group } from '../../rest/openapi/groups.js';
import { nodeInProject, type ProjectReader, type ProjectRelations, projectRelationOf } from '../projects/public.js';
import { CertificateAuthority, CertificateAuthorityHistory } from './authorities/authority.entity.js';
import { findAuthorities } from './authorities/authority.queries.js';
import {
  AuthorityContentResolver,
  AuthorityParentResolver,
  AuthorityResolver,
  ProjectAuthoritiesResolver,
} from './authorities/authority.resolver.js';
import { authorityRoutes } from './authorities/authority.routes.js';
import { AuthorityService, auditOfRead as readOfAuthority } from './authorities/authority.service.js';
import { AuthorityType } from './authorities/authority.type.js';
import { Certificate } from './certificates/certificate.entity.js';
import {
  CertificateContentResolver,
  CertificateResolver,
  certificateNode,
  ProjectCertificatesResolver,
} from './certificates/certificate.resolver.js';
import { certificateRoutes } from './certificates/certificate.routes.js';
import { CertificateService } from './certificates/certificate.service.js';
import { CertificateType } from './certificates/certificate.type.js';
import { CertificateCleaning } from './cleaning/cleaning.entity.js';
import { CleaningResolver, cleaningRoutes } from './cleaning/cleaning.resolver.js';
import { CLEANING_JOB, CleaningService } from './cleaning/cleaning.service.js';
import { FormatResolver, formatRoutes } from './formats/format.resolver.js';
import { FormatService } from './formats/format.service.js';
import { IntermediateResolver, IssueResolver, LineageResolver } from './issuing/issue.resolver.js';
import { intermediateRoutes, issueRoutes } from './issuing/issue.routes.js';
import { IntermediateService, IssueService } from './issuing/issue.service.js';
import { RenewalService, renewalJobs } from './issuing/renewal.service.js';
import { CertificateRequest } from './issuing/request.entity.js';
import { RequestCertificatesResolver, RequestResolver, RequestType, requestNode } from './issuing/request.resolver.js';
import { RequestLog, RequestService } from './issuing/request.service.js';
import { CertificateProfile } from './profiles/profile.entity.js';
import {
  ProfileAuthorityResolver,
  ProfileResolver,
  ProjectProfilesResolver,
  profileNode,
  profileRoutes,
} from './profiles/profile.resolver.js';
import { ProfileService } from './profiles/profile.service.js';
import { ProfileType } from './profiles/profile.type.js';
import { publicDocuments } from './revocation/public-documents.js';
import { CertificateRevocation, CertificateRevocationList } from './revocation/revocation.entity.js';
import { RevocationService } from './revocation/revocation.service.js';

/** Groups of the API reference. */
const GROUPS: readonly Group[] = [
  {
    name: 'certificate-authorities',
    permission: { subject: 'certificate-authorities', nouns: /^(CertificateAuthorit(y|ies))$/ },
    title: 'Certificate authorities',
    description: 'Who issues the certificates of a project.',
    paths: /^\/api\/v1\/cert-manager\/ca\b/,
    parameters: {
      caId: 'The certificate authority.',
      authorityId: 'The certificate authority that signs.',
      predecessorId: 'The certificate authority that is followed.',
    },
  },
  {
    name: 'certificates',
    permission: { subject: 'certificates', nouns: /^(Certificates?|CertificateRequests?)$/ },
    title: 'Certificates',
    description: 'The inventory of certificates of a project.',
    paths: /^\/api\/v1\/cert-manager\/(certificates|certificate-cleaning|certificate-lineages|certificate-requests)\b/,
    parameters: {
      certificateId: 'The certificate.',
      projectId: 'The project.',
      lineageId: 'The lineage, as certificates have it.',
      requestId: 'The request for a certificate.',
    },
  },
  {
    name: 'certificate-profiles',
    permission: { subject: 'certificate-profiles', nouns: /^(CertificateProfiles?)$/ },
    title: 'Certificate profiles',
    description: 'What the certificates of a project may be.',
    paths: /^\/api\/v1\/cert-manager\/certificate-profiles\b/,
    parameters: { profileId: 'The certificate profile.' },
  },
];

const ENTITIES = [
  ...[CertificateAuthority, CertificateAuthorityHistory, Certificate, CertificateRevocation, CertificateRevocationList],
  ...[CertificateProfile, CertificateRequest, CertificateCleaning],
];

/** Certificate authorities, certificate profiles, and the inventory of issued and imported certificates. */
export function createCertificates(deps: {
  readonly projects: ProjectReader;
  readonly relations: ProjectRelations;
}): Feature {
  const authorities = new AuthorityService(deps.projects);
  const certificates = new CertificateService(deps.projects);
  const profiles = new ProfileService(deps.projects);
  const log = new RequestLog();
  const issuing = new IssueService(profiles, log);
  const renewals = new RenewalService(certificates, profiles, log);
  return {
    entities: ENTITIES,
    resolvers: [
      new AuthorityResolver(authorities),
      new AuthorityContentResolver(),
      new AuthorityParentResolver(deps.relations),
      new ProjectAuthoritiesResolver(authorities),
      projectRelationOf(AuthorityType, deps.relations),
      new CertificateResolver(certificates),
      new IntermediateResolver(new IntermediateService(deps.projects)),
      new FormatResolver(new FormatService(certificates)),
      new CertificateContentResolver(deps.relations),
      new ProjectCertificatesResolver(certificates),
      projectRelationOf(CertificateType, deps.relations),
      new ProfileResolver(profiles),
      new ProfileAuthorityResolver(deps.relations),
      new ProjectProfilesResolver(profiles),
      projectRelationOf(ProfileType, deps.relations),
      new CleaningResolver(new CleaningService(deps.projects)),
      new IssueResolver(issuing, renewals),
      new LineageResolver(deps.relations),
      new RequestResolver(new RequestService(deps.projects, certificates)),
      new RequestCertificatesResolver(deps.relations),
      projectRelationOf(RequestType, deps.relations),
    ],
    nodes: [
      nodeInProject(deps.relations, {
        type: 'CertificateAuthority',
        table: 'certificate_authority',
        action: 'certificate-authorities:read',
        find: findAuthorities,
        record: readOfAuthority,
      }),
      certificateNode(deps.relations),
      profileNode(deps.relations),
      requestNode(deps.relations),
    ],
    routes: [
      ...[...authorityRoutes, ...certificateRoutes, ...formatRoutes, ...intermediateRoutes],
      ...[...profileRoutes, ...issueRoutes, ...cleaningRoutes],
    ],
    documents: publicDocuments(new RevocationService()),
    jobs: [...renewalJobs(), CLEANING_JOB],
    groups: GROUPS,
  };
}
