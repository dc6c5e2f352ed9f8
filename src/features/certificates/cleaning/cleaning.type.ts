import { Field, Int, ObjectType } from 'type-graphql';

@ObjectType('CertificateCleaning', { description: 'Setting for the deletion of expired certificates of a project.' })
export class CleaningType {
  @Field(() => Int, {
    nullable: true,
    description: 'Number of days after expiration when certificates are deleted, with their keys. Null: they are kept.',
  })
  daysAfterExpiry!: number | null;
}
