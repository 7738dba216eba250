/** The one style sheet. No style attributes anywhere: the Content-Security-Policy forbids them. */
export const PAGE_STYLES = `
:root{color-scheme:light dark;--bg:#f7f7f4;--panel:#fff;--line:#dddcd5;--text:#1c1d1b;--dim:#5d615b;--link:#0b57a4;
--ok:#14713f;--busy:#123f80;--busy-bg:#dbe8fb;--warn:#533600;--warn-bg:#ffdc97;--warn-ink:#704a00;--bad:#fff;--bad-bg:#b4231d;--bad-ink:#a51d18;--idle:#4c504a;--idle-bg:#e6e6df;
--line1:#0f62c4;--line2:#8a3ffc;--line3:#00706b;--line4:#b0246e}
@media (prefers-color-scheme:dark){:root{--bg:#101213;--panel:#181b1d;--line:#2d3235;--text:#e8eae7;--dim:#9ca39d;--link:#8cbcf5;
--ok:#74d09b;--busy:#cfe2ff;--busy-bg:#1e3c68;--warn:#ffe3ab;--warn-bg:#6a4a05;--warn-ink:#ffcf70;--bad:#fff;--bad-bg:#bd332d;--bad-ink:#ff9a93;--idle:#c3c8c2;--idle-bg:#2b3033;
--line1:#78a9ff;--line2:#be95ff;--line3:#3ddbd9;--line4:#ff8cbe}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--text);font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
a{color:var(--link)}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
h1,h2,h3,p,ul,ol,dl,dd{margin:0}
h2{font-size:.85rem;letter-spacing:.04em;text-transform:uppercase;color:var(--dim);margin:1.75rem 0 .5rem}
h2 small{letter-spacing:0;text-transform:none}
h3{font-size:1rem}
h4{font-size:.85rem;margin:.5rem 0 .2rem}
small{font-weight:400;color:var(--dim)}
i{font-style:normal}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.top,main,footer{max-width:100rem;margin:0 auto;padding:.6rem clamp(.75rem,2.5vw,2rem)}
.top{display:flex;flex-wrap:wrap;gap:.4rem 1rem;align-items:center}
.brand{font-weight:700;font-size:1.05rem;text-decoration:none;color:var(--text)}
.top form{flex:1 1 12rem;display:flex;gap:.4rem;max-width:26rem}
.top input{flex:1;min-width:0;font:inherit;padding:.3rem .6rem;border:1px solid var(--line);border-radius:.4rem;background:var(--panel);color:inherit}
.top button{font:inherit;padding:.3rem .7rem;border:1px solid var(--line);border-radius:.4rem;background:var(--panel);color:inherit}
#live{margin-left:auto;color:var(--dim);font-size:.85rem}
.offline #live{background:var(--bad-bg);color:var(--bad);padding:.2rem .6rem;border-radius:.4rem;font-weight:600}
.offline main{opacity:.55}.offline .top{position:sticky;top:0;z-index:2;background:var(--bg)}
.summary{border-left:.4rem solid var(--line);background:var(--panel);padding:.8rem 1rem;border-radius:.3rem}
.summary h1{font-size:clamp(1.1rem,.9rem + 1vw,1.6rem);line-height:1.3;font-weight:650;text-wrap:balance}
.summary p{color:var(--dim);margin-top:.35rem;font-size:.9rem}
.summary.bad{border-color:var(--bad-bg)}.summary.warn{border-color:#d99000}.summary.busy{border-color:#4f8be0}.summary.ok{border-color:#2a9d5f}
.summary i{margin-right:.15em}
.summary.bad h1 i{color:var(--bad-bg)}.summary.ok h1 i{color:var(--ok)}
.hint,.meta{color:var(--dim);font-size:.85rem}
.cards{list-style:none;padding:0;display:grid;gap:.6rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,23rem),1fr))}
.card{background:var(--panel);border:1px solid var(--line);border-left:.3rem solid var(--line);border-radius:.3rem;padding:.55rem .8rem;display:grid;gap:.2rem;align-content:start}
.card.bad{border-left-color:var(--bad-bg)}.card.warn{border-left-color:#d99000}.card.busy{border-left-color:#4f8be0}.card.ok{border-left-color:#2a9d5f}
.card h3 a{color:inherit}
.card .pill{float:right}
.card:target{outline:2px solid var(--link);outline-offset:2px}
.variant{font-weight:500;color:var(--dim)}
.state{font-weight:600}
.card summary,.testnets summary,#more-chains summary{cursor:pointer;color:var(--link);padding:.2rem 0}
.keys{font-size:.8rem;color:var(--dim);padding-left:1.1rem;max-height:14rem;overflow:auto}
.list{padding-left:1.1rem}
.box{overflow-x:auto;border:1px solid var(--line);border-radius:.3rem;background:var(--panel);margin-top:.4rem}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:.2rem .5rem;text-align:left;white-space:nowrap;overflow-wrap:normal}
thead th{font-size:.8rem;font-weight:600;color:var(--dim);vertical-align:bottom;border-bottom:1px solid var(--line)}
.matrix{font-size:.9rem}
.matrix thead th[colspan]{text-align:center;color:var(--text)}
.matrix tbody th{position:sticky;left:0;background:var(--panel);font-weight:500;z-index:1}
.matrix thead tr:first-child th:first-child{position:sticky;left:0;background:var(--panel);z-index:1}
.matrix tbody th,.matrix thead tr:first-child th:first-child{border-right:1px solid var(--line)}
.matrix tbody th a{color:inherit;text-decoration:none;display:block;padding:.15rem 0}
.matrix tbody th a:hover{text-decoration:underline}
.matrix tbody tr+tr>*{border-top:1px solid var(--line)}
.matrix td{padding:.1rem .15rem}
.matrix td a{display:block;text-decoration:none;padding:.15rem .4rem;min-height:24px;border-radius:.25rem;color:var(--text)}
.matrix td a:hover{text-decoration:underline}
.matrix td.none{color:var(--dim);text-align:center}
.matrix .head{color:var(--dim);text-align:right;padding-right:.6rem}
a.ok i{color:var(--ok)}
.matrix a.busy,.pill.busy{background:var(--busy-bg);color:var(--busy)}
.matrix a.warn,.pill.warn{background:var(--warn-bg);color:var(--warn);font-weight:600}
.matrix a.bad,.pill.bad{background:var(--bad-bg);color:var(--bad);font-weight:600}
.matrix a.idle,.pill.idle{background:var(--idle-bg);color:var(--idle)}
.matrix a.warn.muted{background:none;color:var(--warn-ink);box-shadow:inset 0 0 0 1px #d99000;font-weight:500}
.matrix a.bad.muted{background:none;color:var(--bad-ink);box-shadow:inset 0 0 0 1px var(--bad-bg);font-weight:500}
.matrix thead a{color:inherit}
.pill{display:inline-block;padding:0 .5rem;border-radius:1rem;font-size:.85rem}
a.pill{text-decoration-style:dotted;text-underline-offset:.2em}
.pill.ok{color:var(--ok);border:1px solid currentColor}
.plain{font-size:.9rem}.plain th[scope=row]{font-weight:500}
.plain td{white-space:normal;min-width:4rem}.plain td:last-child{overflow-wrap:anywhere;min-width:7rem}
meter{width:6rem;vertical-align:middle}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem .8rem;font-size:.9rem}
dt{color:var(--dim)}
dd{font-variant-numeric:tabular-nums}
figure{margin:0}
.spark svg{display:block;width:100%;height:2.25rem;margin-top:.3rem;background:var(--bg);border-radius:.2rem}
.spark path{fill:none;stroke:var(--line1);stroke-width:1.5;vector-effect:non-scaling-stroke}
.spark .limit{stroke:#d99000;stroke-dasharray:3 3}
.spark figcaption{font-size:.85rem;color:var(--dim)}
.cards.wide{grid-template-columns:repeat(auto-fill,minmax(min(100%,23rem),1fr))}
.cards.wide>:has(details[open]){grid-column:1/-1}
.card details{margin-top:auto;min-width:0}
.curl{margin:.4rem 0;padding:.5rem .6rem;background:var(--bg);border:1px solid var(--line);border-radius:.3rem;font:.8rem/1.4 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere;user-select:all}
.exchanges{margin:0;padding-left:1.2rem;font-size:.85rem;display:grid;gap:.25rem}
.exchanges q{quotes:none;font:.8rem/1.35 ui-monospace,monospace}
.plots{margin-top:.6rem;background:var(--panel);border:1px solid var(--line);border-radius:.3rem;padding:.6rem .8rem}
.ranges{display:flex;gap:.3rem}
.ranges button{font:inherit;font-size:.85rem;min-height:24px;padding:.1rem .7rem;border:1px solid var(--line);border-radius:1rem;background:none;color:var(--dim);cursor:pointer}
.ranges button[aria-pressed=true]{background:var(--busy-bg);color:var(--busy);border-color:transparent;font-weight:600}
.drawn{display:grid;gap:.6rem 1.5rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));margin-top:.5rem}
.drawn figure{min-width:0}
.drawn figcaption{font-size:.85rem;font-weight:600}
.drawn .uplot{font:.75rem/1.4 system-ui,sans-serif;max-width:100%}
.drawn .u-legend{text-align:left;color:var(--dim)}
.drawn .u-legend th,.drawn .u-legend td{padding:0 .15rem;white-space:normal}
.drawn .band{display:none}
.drawn .u-select{background:#8884}
.drawn .u-cursor-x{border-color:var(--dim)}
.tall{max-height:24rem;overflow-y:auto}
.document{max-width:52rem}
.document>*{margin-top:.7rem}
.document h1{font-size:1.6rem}
.document h2 code{font-size:1em}.document h2{font-size:1.15rem;text-transform:none;letter-spacing:0;color:var(--text);margin-top:1.8rem;padding-top:.6rem;border-top:1px solid var(--line)}
.document ul,.document ol{padding-left:1.4rem;display:grid;gap:.3rem}
.document :target{outline:2px solid var(--link);outline-offset:4px;border-radius:.2rem}
code{font:.9em ui-monospace,monospace}
footer{color:var(--dim);font-size:.85rem;margin-top:1.5rem;padding-bottom:2rem}
@media (max-width:60rem){.matrix .head{display:none}}
@media (max-width:34rem){body{font-size:14px}
.plain th,.plain td{padding:.2rem .35rem}.plain td{min-width:3.5rem}.plain th[scope=row]{white-space:normal;overflow-wrap:anywhere;min-width:7rem}.plain thead th{white-space:normal}meter{width:100%}
.matrix{font-size:.8rem}.matrix td,.matrix td a{white-space:normal}.matrix td{padding:1px}.matrix td a{padding:.15rem .1rem;line-height:1.2}
.matrix th{padding:.2rem .35rem}.matrix thead tr:nth-child(2) th{writing-mode:vertical-rl;vertical-align:bottom;padding:.35rem .1rem;white-space:nowrap}
.matrix tbody th{white-space:normal;line-height:1.15}.matrix td i{display:none}}
@media print{.top form,footer nav{display:none}}
`;
