/** An operation that the explorer shows in a tab, ready to run. */
export interface ExampleOperation {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

const head = (title: string, styles: readonly string[]): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="/assets/strongroom.svg">
${styles.map((name) => `<link rel="stylesheet" href="/assets/${name}">`).join('\n')}
</head>`;

const bar = (place: string, elsewhere: string, more = ''): string => `<header class="bar">
<a class="brand" href="/"><img src="/assets/strongroom.svg" alt="">Strongroom</a>
<span class="place">${place}</span>
<span class="gap"></span>
${elsewhere}
${more}</header>`;

const TOKEN_FIELD = `<label for="token">Token
<input id="token" type="password" placeholder="srt_…" autocomplete="off" spellcheck="false"
  title="Sent as Authorization: Bearer with every operation. Kept in this tab until it is closed or you forget it."></label>
<button id="forget" type="button">Forget</button>
`;

const SCHEMA_UNTOLD = `<p class="notice" role="status">This service does not tell its schema (<code>INTROSPECTION=false</code>):
operations run, but there is no documentation and no completion here.</p>`;

const REGISTERED_ONLY = `<p class="notice" role="status">This service runs only documents that are registered
(<code>PERSISTED_DOCUMENTS_ONLY=true</code>): paste one as it was registered.</p>`;

/** What stands in the one tab then: none of the examples would run. */
const REGISTERED_EXAMPLE: ExampleOperation = { query: '# Paste a registered document here.\n' };

const TOKEN_WANTED = `<p class="notice" role="status" id="token-wanted" hidden>Put your token into the field above.</p>`;

const NO_SCRIPT = '<noscript><p class="notice">This page needs JavaScript.</p></noscript>';

/** JSON as a data block: no text of it can end the block. */
const dataBlock = (id: string, value: unknown): string =>
  `<script type="application/json" id="${id}">${JSON.stringify(value).replaceAll('<', '\\u003c')}</script>`;

/** GraphiQL under a bar with a field for the token. */
export const explorerPage = ({
  introspection,
  persistedOnly,
  examples,
}: {
  readonly introspection: boolean;
  readonly persistedOnly: boolean;
  readonly examples: readonly ExampleOperation[];
}): string => `${head('Strongroom · GraphQL explorer', ['graphiql.css', 'strongroom.css'])}
<body class="explorer">
${bar('GraphQL explorer', '<a class="elsewhere" href="/docs">API reference</a>', TOKEN_FIELD)}
${introspection ? '' : SCHEMA_UNTOLD}
${persistedOnly ? REGISTERED_ONLY : ''}
${TOKEN_WANTED}
${NO_SCRIPT}
<main id="explorer"></main>
${dataBlock('options', {
  // Neither does the text run that would ask for the schema.
  introspection: introspection && !persistedOnly,
  examples: persistedOnly ? [REGISTERED_EXAMPLE] : examples,
})}
<script src="/assets/graphiql.js" defer></script>
<script type="module" src="/assets/explorer.js"></script>
</body>
</html>
`;

/** Scalar's reference of the REST layer under our bar. */
export const referencePage = (): string => `${head('Strongroom · API reference', ['strongroom.css'])}
<body class="reference">
${bar('API reference', '<a class="elsewhere" href="/graphql">GraphQL explorer</a>')}
${NO_SCRIPT}
<div id="reference"></div>
<link rel="modulepreload" href="/assets/scalar.js">
<script type="module" src="/assets/reference.js"></script>
</body>
</html>
`;

/** The way in for people: no script. */
export const homePage = (version: string): string => `${head('Strongroom', ['strongroom.css'])}
<body>
<main class="home">
<img class="mark" src="/assets/strongroom.svg" alt="">
<h1>Strongroom</h1>
<p class="lead">Keeps what a company's machines live on: projects, secrets, identities and the tokens that may read them. Version ${version}.</p>
<nav class="ways">
<a href="/graphql"><strong>GraphQL explorer</strong><span>Ask, change and compose with the whole schema at hand.</span></a>
<a href="/docs"><strong>API reference</strong><span>Every REST path, with examples, errors and a way to try it.</span></a>
</nav>
<dl>
<dt>GraphQL</dt><dd><code>POST /graphql</code></dd>
<dt>REST</dt><dd><code>/api</code>, described by <a href="/openapi.json">openapi.json</a></dd>
<dt>Health</dt><dd><a href="/api/status">/api/status</a></dd>
</dl>
</main>
</body>
</html>
`;
