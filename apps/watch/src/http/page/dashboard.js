// The page: nothing yet.
document.title = "Berth watch"
