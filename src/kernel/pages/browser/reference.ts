/** The script of the page of the API reference. It runs in browsers, so it names here what it uses of one. */
declare const location: { readonly origin: string };
declare const sessionStorage: { getItem(key: string): string | null };
/** Made by the program that is loaded below. */
declare const Scalar: { createApiReference(selector: string, configuration: object): unknown };

const here = location.origin;
const DOCUMENT = '/openapi.json';

interface Parameter {
  readonly in?: string;
  readonly required?: boolean;
  readonly schema?: { minimum?: number };
  examples?: object;
}

interface ApiDocument {
  readonly paths: Record<string, Record<string, { readonly parameters?: Parameter[] }>>;
  /** What operations share, and refer to. */
  readonly components: { readonly parameters: Record<string, Parameter> };
}

/**
 * The document as Scalar is to know it. For a parameter without an example it would send the default, or the first word of an
 * enum, with every request that is tried; with an example without a value it sends a parameter once somebody has filled it in.
 * An empty field is 0 to it, so that it would warn of what is below the minimum.
 */
async function withoutNeedless(reply: Response): Promise<Response> {
  const document = (await reply.json()) as ApiDocument;
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  const parameters = [
    ...operations.flatMap((it) => it.parameters ?? []),
    ...Object.values(document.components.parameters),
  ];
  for (const parameter of parameters) {
    if (parameter.in !== 'query' || parameter.required === true) continue;
    parameter.examples = { default: {} };
    delete parameter.schema?.minimum;
  }
  return Response.json(document);
}

/** Everything that Scalar asks for, the document and the requests that are tried. */
async function fetchFor(wanted: string | Request, options?: RequestInit): Promise<Response> {
  const reply = await fetch(wanted, options);
  const isDocument = typeof wanted === 'string' && new URL(wanted, here).pathname === DOCUMENT;
  return isDocument && reply.ok ? withoutNeedless(reply) : reply;
}

// Its library for checking objects would first try whether code may be made of text. It may not, and need not be tried.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
const program: string = '/assets/scalar.js';
await import(program);

Scalar.createApiReference('#reference', {
  url: DOCUMENT,
  customFetch: fetchFor,
  baseServerURL: here,
  // The token of the explorer of this tab, if it has one. Nothing is kept by this page.
  authentication: {
    preferredSecurityScheme: 'bearer',
    securitySchemes: { bearer: { token: sessionStorage.getItem('strongroom.token') ?? '' } },
  },
  persistAuth: false,
  // Nothing leaves this origin: no fonts, no figures, no proxy, no client, no assistant of others.
  telemetry: false,
  withDefaultFonts: false,
  externalUrls: { dashboardUrl: here, registryUrl: here, proxyUrl: here, apiBaseUrl: here },
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'direct',
  favicon: '/assets/strongroom.svg',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  hideModels: true,
  // Ours finds operations of GraphQL and guides, too.
  hideSearch: true,
  defaultOpenFirstTag: false,
  theme: 'default',
  customCss: `
    :root { --scalar-custom-header-height: 52px; --scalar-font: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
      --scalar-font-code: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
    .light-mode { --scalar-color-accent: #8a5a00; --scalar-background-accent: #c98f2b1a; --scalar-color-2: #55616f; --scalar-color-3: #5f6b79;
      --scalar-color-green: #08703f; --scalar-color-red: #c4001a; --scalar-color-yellow: #7d5700; --scalar-color-blue: #0a64ad;
      --scalar-color-orange: #a34100; --scalar-sidebar-color-2: #55616f; --scalar-sidebar-search-color: #5f6b79; }
    .dark-mode { --scalar-color-accent: #f0c060; --scalar-background-accent: #c98f2b2a; --scalar-color-2: #a9b8c6; --scalar-color-3: #95a5b5;
      --scalar-color-green: #3ecf8e; --scalar-color-red: #ff8078; --scalar-color-blue: #4fc1ff; --scalar-color-orange: #ff9a55;
      --scalar-sidebar-color-2: #a9b8c6; --scalar-sidebar-search-color: #95a5b5; --scalar-background-1: #10161d;
      --scalar-background-2: #18212b; --scalar-background-3: #22303d; }
    a[href^="https://www.scalar.com"], a[href^="https://scalar.com"] { display: none !important; }
  `,
});

export {};
