// The print button of the receipt.

const button = document.getElementById("print");
button.hidden = false;
button.addEventListener("click", () => print());
