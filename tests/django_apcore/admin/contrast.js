// Returns every text of the content whose contrast with its background is below 4.5 to 1, or 3 to 1 if it is large.
(() => {
  const rgba = (color) => {
    const parts = color.match(/[\d.]+/g).map(Number);
    return [parts[0], parts[1], parts[2], parts[3] ?? 1];
  };
  const over = (top, below) => top.slice(0, 3).map((value, at) => value * top[3] + below[at] * (1 - top[3])).concat(1);
  const background = (element) => {
    if (!element) return [255, 255, 255, 1];
    const own = rgba(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own : over(own, background(element.parentElement));
  };
  const luminance = (color) => {
    const [r, g, b] = color.map((value) => value / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const poor = [];
  const walker = document.createTreeWalker(document.querySelector("#content-main"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !element.checkVisibility() || element.closest(".visually-hidden, script")) continue;
    if (!element.closest(".apcore-approval, #result_list tbody")) continue;
    const style = getComputedStyle(element);
    const below = background(element);
    const [one, other] = [luminance(over(rgba(style.color), below)), luminance(below)];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (contrast < (large ? 3 : 4.5)) poor.push(`${element.className}: ${walker.currentNode.textContent.trim().slice(0, 40)} ${contrast.toFixed(2)}`);
  }
  return [...new Set(poor)];
})()
