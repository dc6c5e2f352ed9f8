import './project-templates.errors.js';
import type { Feature } from '../../../feature.js';
import { type BatchLoad, mapFound } from '../../../kernel/database/batched.js';
import { nodeKind } from '../../../kernel/graphql/node.js';
import type { ProjectReader } from '../../projects/public.js';
import { isBuiltInForm } from './built-in-templates.js';
import { ProjectTemplate, ProjectTemplateVersion } from './template.entity.js';
import { TemplateResolver, templateRelations } from './template.resolver.js';
import { templateRoutes } from './template.routes.js';
import { auditOfRead, TemplateService } from './template.service.js';
import { type TemplateType, type TemplateVersionType, toTemplateType, toVersionType } from './template.type.js';
import { driftRelations, TemplateDriftResolver } from './template-drift.resolver.js';
import { TemplateDriftService } from './template-drift.service.js';

/** Templates that projects are created from. */
export function createProjectTemplates({ projects }: { readonly projects: ProjectReader }): Feature {
  const service = new TemplateService();
  const templates: BatchLoad<TemplateType> = async (ctx, ids) =>
    mapFound(await service.byIds(ctx, ids), toTemplateType);
  const versions: BatchLoad<TemplateVersionType> = async (ctx, ids) =>
    mapFound(await service.versionsByIds(ctx, ids), toVersionType);
  return {
    entities: [ProjectTemplate, ProjectTemplateVersion],
    resolvers: [
      new TemplateResolver(service),
      new TemplateDriftResolver(new TemplateDriftService(projects)),
      ...templateRelations(service),
      ...driftRelations(),
    ],
    nodes: [
      nodeKind({
        type: 'ProjectTemplate',
        table: 'project_template',
        reach: 'n.organization_id = $2',
        isDerived: isBuiltInForm,
        load: templates,
        record: auditOfRead,
      }),
      nodeKind({
        type: 'ProjectTemplateVersion',
        table: 'project_template_version',
        reach: 'n.organization_id = $2',
        load: versions,
        record: ({ projectTemplateId }) => auditOfRead({ id: projectTemplateId }),
      }),
    ],
    routes: templateRoutes,
    groups: [
      {
        name: 'project-templates',
        permission: { subject: 'project-templates', nouns: /^(ProjectTemplates?)$/ },
        title: 'Project templates',
        description: 'What projects are made from: environments, roles and members.',
        paths: /^\/api\/v\d\/project-templates\b/,
        parameters: { templateId: 'The project template.' },
      },
    ],
  };
}
