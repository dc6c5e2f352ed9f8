/** Of the schema linter, which has no types of its own, what the test of the schema calls. */
declare module 'graphql-schema-linter' {
  type Rule = (...given: never[]) => unknown;

  interface Configuration {
    getAllRules(): Rule[];
    getRules(): Rule[];
  }

  interface Definition {
    readonly definition: string;
    readonly sourceMap: { getOriginalPathForLine(line: number): string };
  }

  const linter: {
    readonly validator: {
      validateSchemaDefinition(
        schema: Definition,
        rules: Rule[],
        configuration: Configuration,
      ): { readonly message: string; readonly ruleName: string }[];
    };
    readonly configuration: {
      readonly Configuration: new (
        schema: Definition,
        options: { ignore: Readonly<Record<string, readonly string[]>> },
      ) => Configuration;
    };
  };
  export default linter;
}
