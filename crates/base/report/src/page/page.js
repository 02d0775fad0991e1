const link = document.getElementById("download");
const data = new Blob([document.getElementById("data").textContent], { type: "application/json" });
link.href = URL.createObjectURL(data);
link.hidden = false;
