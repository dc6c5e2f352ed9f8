import { Component, type ComponentType, lazy, type ReactNode, Suspense, useLayoutEffect } from 'react';
import { Button, RouterProvider } from 'react-aria-components';
import { createRoot } from 'react-dom/client';
import { Overview } from './overview.tsx';
import { go, useAddress } from './parts.tsx';
import { Session, useSession } from './session.tsx';

// Pages beyond the first come when they are opened.
const Access = lazy(() => import('./access.tsx'));
const Audit = lazy(() => import('./audit.tsx'));
const Certificates = lazy(() => import('./certificates.tsx'));
const Projects = lazy(() => import('./project.tsx'));

const PAGES: readonly {
  readonly path: string;
  /** What may be behind it. */
  readonly rest: RegExp;
  readonly title: string;
  /** Gets the parts of that. */
  readonly Page: ComponentType<{ readonly rest: readonly string[] }>;
}[] = [
  { path: '/console', rest: /^\/?$/, title: 'Overview', Page: Overview },
  { path: '/console/projects', rest: /^(\/[^/]+(\/secrets\/[^/]+)?)?\/?$/, title: 'Projects', Page: Projects },
  { path: '/console/access', rest: /^(\/[^/]+)?\/?$/, title: 'Access', Page: Access },
  { path: '/console/certificates', rest: /^(\/[^/]+){0,2}\/?$/, title: 'Certificates', Page: Certificates },
  { path: '/console/audit', rest: /^(\/(by|of|secret)\/[^/]+)?\/?$/, title: 'Audit', Page: Audit },
];

const Lost = () => (
  <>
    <h1>No such page</h1>
    <p className="wide">
      The console has no page at this address. <a href="/console">Overview</a>
    </p>
  </>
);

function Console() {
  const { pathname } = useAddress();
  const found = PAGES.find(({ path, rest }) => pathname.startsWith(path) && rest.test(pathname.slice(path.length)));
  const { path, title, Page } = found ?? { path: '', title: 'No such page', Page: Lost };
  // Before the effects of the page, which may know a better one.
  useLayoutEffect(() => {
    document.title = `Strongroom · ${title}`;
    return () => {
      document.title = 'Strongroom · Console';
    };
  });
  return (
    <RouterProvider navigate={go}>
      <Frame path={path}>
        <Page rest={pathname.slice(path.length + 1).split('/')} />
      </Frame>
    </RouterProvider>
  );
}

function Frame({ path, children }: { readonly path: string; readonly children: ReactNode }) {
  const { signOut } = useSession();
  // Links within the console do not load the page again: that would forget the token.
  const follow = (event: React.MouseEvent) => {
    const link = (event.target as Element).closest('a');
    if (link === null || link.target !== '' || event.metaKey || event.ctrlKey || !link.pathname.startsWith('/console'))
      return;
    event.preventDefault();
    go(link.pathname + link.search);
  };
  return (
    <div onClickCapture={follow}>
      <header className="bar">
        <a className="brand" href="/console">
          <img src="/assets/strongroom.svg" alt="" />
          Strongroom
        </a>
        <nav aria-label="Console">
          {PAGES.map((page) => (
            <a key={page.path} href={page.path} aria-current={page.path === path ? 'page' : undefined}>
              {page.title}
            </a>
          ))}
        </nav>
        <span className="gap" />
        <Button onPress={signOut}>Sign out</Button>
      </header>
      <main className="console">
        <Mishap key={path}>
          <Suspense fallback={<p className="dim">Loading…</p>}>{children}</Suspense>
        </Mishap>
      </main>
    </div>
  );
}

/** Without it, a page whose program does not come takes all others with it, and the session. */
class Mishap extends Component<{ readonly children: ReactNode }, { readonly isThere: boolean }> {
  override state = { isThere: false };
  static getDerivedStateFromError = () => ({ isThere: true });
  override render() {
    if (!this.state.isThere) return this.props.children;
    return (
      <p role="alert" className="failure">
        This page cannot be loaded. The others still work; to try again, reload the console and sign in.
      </p>
    );
  }
}

createRoot(document.querySelector('#console') as Element).render(
  <Session>
    <Console />
  </Session>,
);
