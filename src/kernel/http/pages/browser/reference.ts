/** The script of the page of the API reference. It runs in browsers, so it names here what it uses of one. */
declare const location: { readonly origin: string };
declare const sessionStorage: { getItem(key: string): string | null };
/** Made by the program that is loaded below. */
declare const Scalar: { createApiReference(selector: string, configuration: object): unknown };

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

interface Operation {
  readonly path: string;
  readonly method: string;
}

/** What is read of a thing stands before what changes it. */
const byPath = (a: Operation, b: Operation): number =>
  a.path === b.path
    ? METHODS.indexOf(a.method.toLowerCase()) - METHODS.indexOf(b.method.toLowerCase())
    : a.path < b.path
      ? -1
      : 1;

const here = location.origin;

// Its library for checking objects would first try whether code may be made of text. It may not, and need not be tried.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
const program: string = '/assets/scalar.js';
await import(program);

Scalar.createApiReference('#reference', {
  url: '/openapi.json',
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
  defaultOpenFirstTag: false,
  operationsSorter: byPath,
  theme: 'default',
  customCss: `
    :root { --scalar-custom-header-height: 52px; --scalar-font: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
      --scalar-font-code: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
    .light-mode { --scalar-color-accent: #8a5a00; --scalar-background-accent: #c98f2b1a; }
    .dark-mode { --scalar-color-accent: #f0c060; --scalar-background-accent: #c98f2b2a; --scalar-background-1: #10161d;
      --scalar-background-2: #18212b; --scalar-background-3: #22303d; }
    a[href^="https://www.scalar.com"], a[href^="https://scalar.com"] { display: none !important; }
  `,
});

export {};
