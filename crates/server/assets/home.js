// The copy button of the home page. Browsers give a page the clipboard only over https or on this machine.

const button = document.getElementById("copy");
const { clipboard } = navigator;
if (clipboard) {
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await clipboard.writeText(document.getElementById("command").textContent);
    button.textContent = button.dataset.copied;
    setTimeout(() => (button.textContent = label), 2_000);
  });
}
