export const PAGE_STYLE = `:root {
  color-scheme: light dark;
  --ground: light-dark(#f1f3f8, #12151c);
  --card: light-dark(#ffffff, #1b202b);
  --ink: light-dark(#1b2330, #e7ebf3);
  --soft: light-dark(#667085, #98a2b3);
  --line: light-dark(#e3e7ef, #2a3140);
  --accent: #3b6ef6;
}
* { box-sizing: border-box; }
body { margin: 0; padding: 24px clamp(16px, 4vw, 56px) 56px; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: 16px; justify-content: space-between; align-items: end; margin-bottom: 20px; }
h1 { margin: 0; font-size: 28px; letter-spacing: -0.02em; }
h2 { margin: 0 0 12px; font-size: 16px; }
h2 span { color: var(--soft); font-weight: 400; }
p { margin: 4px 0; }
header p, time, .soft { color: var(--soft); }
main { display: grid; gap: 16px; grid-template-columns: repeat(auto-fit, minmax(min(340px, 100%), 1fr)); }
section { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 16px 18px; min-width: 0; }
.wide { grid-column: 1 / -1; overflow-x: auto; }
.clock { display: grid; gap: 8px; padding: 12px 16px; }
.clock time { font-variant-numeric: tabular-nums; color: var(--ink); }
button { font: inherit; font-size: 13px; padding: 5px 12px; margin-right: 6px; border: 1px solid var(--line); border-radius: 8px; background: transparent; color: inherit; cursor: pointer; }
button:hover { border-color: var(--accent); }
button:disabled { opacity: 0.5; cursor: default; }
button.pay { background: var(--accent); border-color: var(--accent); color: #fff; }
table { width: 100%; border-collapse: collapse; }
th { text-align: left; font-weight: 500; color: var(--soft); font-size: 13px; }
th, td { padding: 7px 12px 7px 0; border-top: 1px solid var(--line); vertical-align: top; }
thead th { border-top: 0; }
code { font: 12px ui-monospace, monospace; word-break: break-all; }
a { color: var(--accent); word-break: break-all; }
details { border-top: 1px solid var(--line); padding: 8px 0; }
details:first-child { border-top: 0; }
summary { cursor: pointer; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; margin: 8px 0 4px; }
.tag { display: inline-block; padding: 0 8px; border-radius: 99px; background: var(--line); font-size: 12px; }
.tag.paid, .tag.ACTIVE { background: #16a34a2e; }
.tag.failed, .tag.EXPIRED { background: #dc26262e; }
#problem { background: #dc262626; padding: 8px 14px; border-radius: 10px; }
`;
