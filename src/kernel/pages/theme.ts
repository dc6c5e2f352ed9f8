/** The mark of Strongroom: the door of a vault. Also the icon of every page. */
export const MARK = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">
<defs>
<linearGradient id="steel" x1="0" y1="0" x2="1" y2="1"><stop offset="0" stop-color="#33475c"/><stop offset="1" stop-color="#131d28"/></linearGradient>
<linearGradient id="brass" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#f3c96b"/><stop offset="1" stop-color="#c98f2b"/></linearGradient>
</defs>
<rect width="64" height="64" rx="14" fill="url(#steel)"/>
<g fill="none" stroke="url(#brass)" stroke-linecap="round">
<circle cx="32" cy="32" r="18.5" stroke-width="4"/>
<path stroke-width="4" d="M32 6.5v7M32 50.5v7M6.5 32h7M50.5 32h7"/>
</g>
<path fill="url(#brass)" d="M32 22.5a6.6 6.6 0 0 1 3.5 12.2l1.8 7.1a1.4 1.4 0 0 1-1.4 1.7h-7.8a1.4 1.4 0 0 1-1.4-1.7l1.8-7.1A6.6 6.6 0 0 1 32 22.5z"/>
</svg>
`;

/** Colours and forms of all pages, light and dark. GraphiQL and Scalar mark a choice of their own on the body. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f6f7f9; --surface: #fff; --line: #d9dee5; --ink: #17212c; --dim: #55616f; --accent: #8a5a00; --focus: #0b5fbf; --brass: #c98f2b;
  --bar: 52px;
}
@media (prefers-color-scheme: dark) {
  :root { --ground: #10161d; --surface: #18212b; --line: #2c3a48; --ink: #e8edf2; --dim: #9badbf; --accent: #f0c060; --focus: #7db8ff; }
}
body.graphiql-light, body.light-mode {
  --ground: #f6f7f9; --surface: #fff; --line: #d9dee5; --ink: #17212c; --dim: #55616f; --accent: #8a5a00; --focus: #0b5fbf;
}
body.graphiql-dark, body.dark-mode {
  --ground: #10161d; --surface: #18212b; --line: #2c3a48; --ink: #e8edf2; --dim: #9badbf; --accent: #f0c060; --focus: #7db8ff;
}
html, body { margin: 0; min-height: 100%; }
body { background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
.bar {
  box-sizing: border-box; height: var(--bar); padding: 0 16px; display: flex; align-items: center; gap: 14px;
  background: var(--surface); border-bottom: 1px solid var(--line); color: var(--ink);
  font: 14px/1.4 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
.bar a { color: var(--dim); text-decoration: none; white-space: nowrap; }
.bar a:hover { color: var(--ink); }
.bar .brand { display: flex; align-items: center; gap: 10px; color: var(--ink); font-weight: 650; font-size: 16px; }
.bar .brand img { width: 28px; height: 28px; }
.bar .place { color: var(--dim); padding-left: 14px; border-left: 1px solid var(--line); white-space: nowrap; }
.bar .gap { flex: 1; }
.bar label { display: flex; align-items: center; gap: 8px; color: var(--dim); }
.bar input {
  width: min(24em, 28vw); padding: 6px 10px; border: 1px solid var(--line); border-radius: 7px; background: var(--ground);
  color: var(--ink); font: 13px/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
}
/* Where the keyboard is, on every page and in both programs. A section that is only scrolled to is no control. */
:is(a, button, input, select, textarea, summary, [role], [tabindex], [contenteditable]):focus-visible {
  outline: 2px solid var(--focus) !important; outline-offset: -2px !important;
}
.bar :focus-visible, .home :focus-visible, .guide :focus-visible { outline-offset: 2px !important; }
section[tabindex="-1"]:focus-visible, [role="dialog"][tabindex="-1"]:focus-visible { outline: none !important; }
/* The text field of an editor has no size of its own. */
.explorer .monaco-editor :is(textarea, .native-edit-context):focus-visible { outline: none !important; }
.explorer .monaco-editor:focus-within { box-shadow: 0 0 0 2px var(--focus); }
.bar button {
  padding: 6px 12px; border: 1px solid var(--line); border-radius: 7px; background: transparent; color: var(--ink);
  font: inherit; cursor: pointer;
}
.bar button:disabled { color: var(--dim); cursor: default; border-style: dashed; }
.search input {
  box-sizing: border-box; width: 100%; padding: 6px 10px; border: 1px solid var(--line); border-radius: 7px; background: var(--ground);
  color: var(--ink); font: inherit;
}
.bar .search { margin: 0; width: min(16em, 22vw); }
.home .search { margin: 0 0 34px; }
.home .search input, .guide .search input { padding: 10px 14px; background: var(--surface); }
.notice { margin: 0; padding: 9px 16px; background: #fff4d6; color: #5b3d00; border-bottom: 1px solid #e8cf8c; font-size: 14px; }
.notice a { color: inherit; }
.late { animation: late 4s step-end backwards; }
@keyframes late { from { visibility: hidden; } }
.notice code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
@media (max-width: 820px) { .bar .place { display: none; } }
/* The mark says it. */
@media (max-width: 480px) { .bar { gap: 6px; padding: 0 10px; font-size: 13px; } .bar .brand { font-size: 0; gap: 0; } }

.home { max-width: 780px; margin: 0 auto; padding: 9vh 24px 48px; }
.home .mark { width: 72px; height: 72px; display: block; }
.home h1 { margin: 18px 0 4px; font-size: 34px; letter-spacing: -.02em; line-height: 1.15; }
.home .lead { margin: 0 0 30px; color: var(--dim); max-width: 34em; }
.home .ways { display: grid; grid-template-columns: repeat(auto-fit, minmax(260px, 1fr)); gap: 16px; margin-bottom: 34px; }
.home .ways a {
  display: block; padding: 20px 22px; background: var(--surface); border: 1px solid var(--line); border-radius: 14px;
  color: inherit; text-decoration: none; transition: border-color .12s;
}
.home .ways a:hover { border-color: var(--brass); }
.home .ways strong { display: block; font-size: 18px; margin-bottom: 3px; }
.home .ways span { color: var(--dim); font-size: 15px; }
.home dl { display: grid; grid-template-columns: max-content 1fr; gap: 8px 24px; margin: 0; font-size: 15px; }
.home dt { color: var(--dim); }
.home dd { margin: 0; }
.home dd a { color: var(--accent); }
.home .hint { margin: 28px 0 0; color: var(--dim); font-size: 15px; max-width: 38em; }
.home .hint a { color: var(--accent); }
.home code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .92em; }

.guides .bar { position: sticky; top: 0; z-index: 20; }
.guides .columns { display: flex; max-width: 1240px; margin: 0 auto; align-items: flex-start; }
.guides nav {
  box-sizing: border-box; flex: none; width: 250px; position: sticky; top: var(--bar); max-height: calc(100vh - var(--bar)); overflow-y: auto;
  padding: 22px 12px 22px 24px; font-size: 15px;
}
.guides nav ul { list-style: none; margin: 0; padding: 0; }
.guides nav a { display: block; padding: 4px 10px; border-radius: 7px; color: var(--dim); text-decoration: none; }
.guides nav a:hover { color: var(--ink); }
.guides nav a[aria-current] { background: var(--surface); color: var(--ink); font-weight: 600; }
.guide { box-sizing: border-box; flex: 1; min-width: 0; max-width: 900px; padding: 18px 28px 80px; overflow-wrap: break-word; }
.searching .guide { margin: 0 auto; }
.guide :is(h1, h2, h3, h4) { line-height: 1.25; letter-spacing: -.01em; margin: 1.5em 0 .5em; scroll-margin-top: calc(var(--bar) + 12px); }
.guide h1 { font-size: 30px; margin-top: .5em; }
.guide h2 { font-size: 22px; padding-top: .5em; border-top: 1px solid var(--line); }
.guide h3 { font-size: 17px; }
.guide a { color: var(--accent); text-underline-offset: 3px; }
.guide :is(code, pre) { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 13.5px; }
.guide :not(pre) > code { background: var(--surface); border: 1px solid var(--line); border-radius: 4px; padding: 0 4px; }
.guide pre { background: var(--surface); border: 1px solid var(--line); border-radius: 8px; padding: 12px 14px; overflow-x: auto; line-height: 1.45; }
.guide .wide { overflow-x: auto; }
.guide table { border-collapse: collapse; font-size: 15px; }
.guide :is(th, td) { border: 1px solid var(--line); padding: 6px 10px; text-align: left; vertical-align: top; }
.guide td code { overflow-wrap: normal; }
.guide th { background: var(--surface); }
.guide .open { font-weight: 600; }
#found { list-style: none; margin: 0; padding: 0; }
#found li { padding: 12px 0; border-bottom: 1px solid var(--line); }
#found a { font-weight: 600; font-size: 17px; }
#found p { margin: 4px 0 0; color: var(--dim); font-size: 15px; }
#found .kind { margin-left: 10px; padding: 1px 8px; border: 1px solid var(--line); border-radius: 9px; color: var(--dim); font-size: 13px; }
#found .deprecated { border-style: dashed; }
#found code { display: block; background: none; border: 0; padding: 0; color: var(--dim); }
#count { color: var(--dim); min-height: 1.5em; }
@media (max-width: 820px) {
  .guides .columns { flex-direction: column-reverse; }
  .guides nav { width: auto; position: static; max-height: none; padding: 0 28px 40px; }
  .guide { padding: 12px 18px 40px; max-width: 100vw; }
  :is(.guides, .searching, .reference) .bar .brand { font-size: 0; gap: 0; }
}

body.explorer { display: flex; flex-direction: column; height: 100vh; height: 100dvh; overflow: hidden; }
.explorer main { flex: 1; min-height: 0; }
.explorer .graphiql-container { height: 100%; }
.explorer .graphiql-logo, .explorer .graphiql-explorer-attribution, .explorer .docExplorerWrap .attribution { display: none; }

/* A tab that is pressed would jump away from under the pointer, and the click miss it. */
.explorer .graphiql-tab { transform: none !important; }
/* GraphiQL takes its colours as the three numbers of hsl(), on each of the layers that it puts into the body. */
body.explorer :is(.graphiql-container, .graphiql-dialog, .graphiql-dialog-overlay, .graphiql-tooltip, [data-radix-popper-content-wrapper]) {
  --color-primary: 37, 75%, 36%;
}
body.explorer.graphiql-dark :is(.graphiql-container, .graphiql-dialog, .graphiql-dialog-overlay, .graphiql-tooltip, [data-radix-popper-content-wrapper]) {
  --color-primary: 40, 66%, 55%; --color-base: 211, 29%, 11%;
}
@media (prefers-color-scheme: dark) {
  body.explorer:not(.graphiql-light) :is(.graphiql-container, .graphiql-dialog, .graphiql-dialog-overlay, .graphiql-tooltip, [data-radix-popper-content-wrapper]) {
    --color-primary: 40, 66%, 55%; --color-base: 211, 29%, 11%;
  }
}

/* Colours of the program that are too faint, as numbers of hsl() again: names of fields and types, and comments. */
body.explorer :is(.graphiql-container, .graphiql-dialog) { --color-info: 208, 100%, 35%; --color-warning: 36, 100%, 27%; }
body.explorer.graphiql-dark :is(.graphiql-container, .graphiql-dialog) { --color-info: 208, 100%, 72%; --color-warning: 36, 100%, 72%; }
@media (prefers-color-scheme: dark) {
  body.explorer:not(.graphiql-light) :is(.graphiql-container, .graphiql-dialog) { --color-info: 208, 100%, 72%; --color-warning: 36, 100%, 72%; }
  body.explorer:not(.graphiql-light) .monaco-editor .mtk8 { color: #86b36f; }
}
body.explorer.graphiql-dark .monaco-editor .mtk8 { color: #86b36f; }
.explorer .monaco-editor .line-numbers { color: var(--dim) !important; }
.explorer .graphiql-doc-explorer a { text-decoration: underline; text-underline-offset: 3px; }

/* Told while nothing has run: the program has no place for it. */
.explorer .result-window:has(.view-line:only-child > span > span:empty)::after {
  content: "The response appears here. Press Ctrl-Enter to run this tab."; position: absolute; inset: 2px 26px auto; color: var(--dim);
  font-size: 14px;
}
/* On a narrow screen the token has a row of its own, and the panes stand below each other. */
@media (max-width: 700px) {
  .explorer .bar { height: auto; flex-wrap: wrap; padding: 8px 12px; gap: 8px 12px; }
  .explorer .bar label { flex: 1 1 60%; }
  .explorer .bar input { flex: 1; width: auto; min-width: 0; }
  .explorer .graphiql-main, .explorer #graphiql-session { flex-direction: column; }
  .explorer .graphiql-horizontal-drag-bar { display: none; }
  .explorer :is(.graphiql-plugin, .graphiql-sessions, .graphiql-editors, .graphiql-response) { flex: 1 !important; min-height: 0; }
  .explorer .graphiql-editors { flex: 3 !important; }
  .explorer .graphiql-response { flex: 2 !important; }
  .explorer .graphiql-sessions { margin: 8px 8px 8px 0; }
  /* An open panel takes the whole screen until it is closed. A closed one lies aside. */
  .explorer .graphiql-plugin:not([style*="absolute"]) ~ .graphiql-sessions { display: none; }
}

/* The button that closes a request lies where our link is. */
.reference:has(.app-exit-button) .bar .elsewhere { visibility: hidden; }
.reference #reference { min-height: calc(100vh - var(--bar)); }
.reference .bar { position: sticky; top: 0; z-index: 20; }
`;
