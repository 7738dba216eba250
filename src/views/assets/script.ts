/**
 * Keeps an open page current: fetches it every 5 s while it is visible and replaces the main element, keeping scroll
 * positions, focus, opened details, plots and selected text. Filters the fleet while typing. Says so when Synclag does not
 * respond. The page is complete without it.
 * The fetched style is removed before parsing: its nonce is not that of this page, and the browser would complain.
 */
export const PAGE_SCRIPT = `
(() => {
  const main = document.querySelector("main");
  const live = document.querySelector("#live");
  const announcement = document.querySelector("#announcement");
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
      document.documentElement.classList.remove("offline");
      if (wanted !== shown || getSelection().isCollapsed) swap(page);
      shown = wanted;
    } catch {
      document.documentElement.classList.add("offline");
      live.textContent = "Synclag does not respond; last update " + document.querySelector("#asof").textContent;
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
    if (announcement.textContent !== sentence) announcement.textContent = sentence;
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
