import { Field, Int, ObjectType } from 'type-graphql';

@ObjectType('CertificateCleaning', { description: 'Whether, and when, expired certificates of a project are deleted.' })
export class CleaningType {
  @Field(() => Int, {
    nullable: true,
    description: 'How many days after their expiry certificates are deleted, with their keys; null keeps them.',
  })
  daysAfterExpiry!: number | null;
}
