// A button on every block of code that copies it, without the prompts of commands.
document.addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("div.highlight-python pre, div.highlight-console pre")) {
    const button = document.createElement("button");
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      const text = block.textContent.replace(/^\$ /gm, "");
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Select the text to copy it";
      }
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    block.parentElement.append(button);
  }
});
