/**
 * Keeps an open page current: fetches it every 5 s and swaps the main element, keeping scroll, focus, opened details, plots and a selection of text. The fleet
 * is filtered as one types; from another page, Enter goes there. The page is complete without it. When Synclag no longer answers, it says so. A hidden page is not refreshed.
 * The fetched style is dropped before parsing: its nonce is not this page's, and the browser would complain.
 */
export const PAGE_SCRIPT = `
(() => {
  const main = document.querySelector("main");
  const live = document.querySelector("#live");
  const said = document.querySelector("#said");
  const box = document.querySelector("#q");
  let running = false;
  let shown = location.href;

  async function refresh() {
    if (running) return;
    running = true;
    const wanted = location.href;
    try {
      const answer = await fetch(wanted, { signal: AbortSignal.timeout(4000) });
      if (!answer.ok) throw new Error(String(answer.status));
      const text = (await answer.text()).replace(/<style.*?<.style>/s, "");
      const page = new DOMParser().parseFromString(text, "text/html");
      live.textContent = "live";
      document.documentElement.classList.remove("gone");
      if (wanted !== shown || getSelection().isCollapsed) swap(page);
      shown = wanted;
    } catch {
      document.documentElement.classList.add("gone");
      live.textContent = "No answer from Synclag: this is as of " + document.querySelector("#asof").textContent;
    }
    running = false;
    if (wanted !== location.href) refresh();
  }

  function swap(page) {
    const next = page.querySelector("main");
    const open = new Map([...main.querySelectorAll("details[id]")].map((one) => [one.id, one.open]));
    const left = new Map([...main.querySelectorAll(".box[id]")].map((one) => [one.id, one.scrollLeft]));
    const focused = main.contains(document.activeElement) ? document.activeElement : null;
    const same = (one) => one.tagName === focused.tagName && one.id === focused.id
      && one.getAttribute("href") === focused.getAttribute("href") && one.parentElement.id === focused.parentElement.id;
    for (const one of next.querySelectorAll("details[id]")) if (open.has(one.id)) one.open = open.get(one.id);
    const kept = [...main.querySelectorAll("[data-keep]")];
    main.replaceChildren(...next.childNodes);
    for (const one of kept) document.getElementById(one.id)?.replaceWith(one);
    for (const one of main.querySelectorAll(".box[id]")) one.scrollLeft = left.get(one.id) ?? 0;
    if (focused) [...main.querySelectorAll("a,summary,[tabindex]")].find(same)?.focus({ preventScroll: true });
    document.title = page.title;
    document.querySelector("link[rel=icon]").href = page.querySelector("link[rel=icon]").href;
    const sentence = main.querySelector("h1").lastChild.textContent.trim();
    if (said.textContent !== sentence) said.textContent = sentence;
  }

  const onFleet = location.pathname === "/";
  box?.addEventListener("input", () => {
    if (!onFleet) return;
    history.replaceState(null, "", box.value === "" ? "/" : "/?q=" + encodeURIComponent(box.value));
    refresh();
  });
  box?.form.addEventListener("submit", (event) => { if (onFleet) event.preventDefault(); });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
  setInterval(() => { if (!document.hidden) refresh(); }, 5000);
  live.textContent = "live";
})();
`;
