/** An entry of the metadata of a certificate. */
export interface MetadataEntry {
  readonly key: string;
  readonly value: string;
}
