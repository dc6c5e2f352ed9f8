import { Int, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { bodyOf, routesAt } from '../../../rest/route.js';
import { ProjectOfCleaning, UpdateCleaning } from './cleaning.rules.js';
import type { CleaningService } from './cleaning.service.js';

const CleaningType = objectType(
  'CertificateCleaning',
  'Setting for the deletion of expired certificates of a project.',
  {
    daysAfterExpiry: [
      orNull(Int),
      'Number of days after expiration when certificates are deleted, with their keys. Null: they are kept.',
    ],
  },
);
type CleaningType = InstanceType<typeof CleaningType>;

@Resolver(() => CleaningType)
export class CleaningResolver {
  constructor(private readonly service: CleaningService) {}

  @query(CleaningType, ProjectOfCleaning, 'Setting for the deletion of expired certificates of a project.')
  certificateCleaning(ctx: Context, args: object): Promise<CleaningType> {
    return this.service.get(ctx, args);
  }

  @mutation(
    UpdateCleaning,
    { certificateCleaning: [CleaningType, 'The updated setting.'] },
    'Sets whether and when expired certificates of a project are deleted automatically. Requires `delete` on `certificates`.',
  )
  async updateCertificateCleaning(ctx: Context, input: object): Promise<{ certificateCleaning: CleaningType }> {
    return { certificateCleaning: await this.service.update(ctx, input) };
  }
}

const cleaning = routesAt('/api/v1/cert-manager/certificate-cleaning');
const NOT_FOUND = ['PROJECT_NOT_FOUND'] as const;

/** Whether expired certificates are deleted, beyond the specification. */
export const cleaningRoutes = [
  cleaning.get('/{projectId}', 'Get the cleanup of expired certificates', {
    field: 'certificateCleaning',
    errors: NOT_FOUND,
  }),
  cleaning.patch('/{projectId}', 'Update the cleanup of expired certificates', {
    field: 'updateCertificateCleaning',
    body: bodyOf(UpdateCleaning, 'projectId'),
    errors: NOT_FOUND,
    example: { daysAfterExpiry: 90 },
  }),
];
